import type { Request } from 'express';

/** The client that the bodies of a request are counted for: an account, or a network if there is no account. */
export interface BodyClient {
  /** The same for all requests of the client, and different for every other client. */
  readonly key: string;
  /** The maximum number of bodies of the client that arrive at the same time. */
  readonly maxArriving: number;
  /** The maximum number of body bytes held for the client. */
  readonly maxBytes: number;
}

/** Finds the client of a request. The class is the injection token. */
export abstract class BodyClients {
  abstract clientOf(request: Request): BodyClient;
}
