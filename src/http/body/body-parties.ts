import type { Request } from 'express';

/** The party that the bodies of a request are counted for: an account, or a network if there is no account. */
export interface BodyParty {
  /** The same for all requests of the party, and different for every other party. */
  readonly key: string;
  /** The maximum number of bodies of the party that arrive at the same time. */
  readonly mostArriving: number;
  /** The maximum number of body bytes held for the party. */
  readonly mostBytes: number;
}

/** Finds the party of a request. The class is the injection token. */
export abstract class BodyParties {
  abstract partyOf(request: Request): BodyParty;
}
