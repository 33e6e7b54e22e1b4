import type { UsageClient } from '../../usage/record/usage-record.js';

/** A request of a known caller that got an error and no usage record. It contains no text of the client, except the request id. */
export interface RefusedRequest {
  /** Sorts by time, as the id of a usage record. */
  readonly id: string;
  readonly requestId: string;
  /** The start of the request, in milliseconds since 1970. */
  readonly refusedAt: number;
  readonly accountId: string;
  readonly credential: UsageClient['credential'];
  readonly keyId: string | null;
  readonly keyPrefix: string | null;
  readonly method: string;
  /** The pattern of the path. `null`: the request matched no route. */
  readonly route: string | null;
  /** A model of the configuration. `null`: the request was refused before its body was read, or has another model. */
  readonly model: string | null;
  readonly status: number;
  readonly errorCode: string;
  /** The limit that has refused the request, or why its key is refused. */
  readonly reason: string | null;
  /** The message that the caller received, for errors whose message has no text of the caller. */
  readonly message: string | null;
  /** The number of similar requests that the sample left out, which this request stands for. */
  readonly similar: number;
}
