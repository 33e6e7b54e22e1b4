import type { RefusedKey } from '../../accounts/api-keys/api-key-verifier.js';
import type { Principal } from '../../auth/principal/principal.js';
import type { ErrorCode } from '../../common/service-error.js';
import type { UsageRecord } from '../../usage/record/usage-record.js';

/** The facts about a finished request. They contain no text of the client, except a well-formed request id, and where a member says so. */
export interface FinishedRequest {
  readonly requestId: string;
  /** `undefined`: traces are disabled. */
  readonly traceId: string | undefined;
  /** The address of the client, as TRUST_PROXY determines it. Computed when it is read. */
  readonly clientAddress: string | undefined;
  readonly method: string;
  /** The pattern of the path. `undefined`: the request matched no route. */
  readonly route: string | undefined;
  /** `undefined`: the client left before the response started. */
  readonly status: number | undefined;
  /** True when the whole response has left this process. */
  readonly isComplete: boolean;
  readonly durationMs: number;
  /** The size of the response in bytes, including headers. */
  readonly bytes: number;
  /** The authenticated caller. `undefined`: the caller is unknown, or the route does not authenticate callers. */
  readonly principal: Principal | undefined;
  /** The known key of a request that was refused because of this key. */
  readonly refusedKey?: RefusedKey | undefined;
  /** The error code that the client received, in an error response or at the end of a stream. */
  readonly errorCode: ErrorCode | undefined;
  /** The message of the error response. It can contain text of the caller. */
  readonly errorMessage?: string | undefined;
  /** The model that the body names: text of the caller. `undefined`: the body was not read, or names none. */
  readonly requestedModel?: string | undefined;
  /** The name of the limit of the tier, or of the budget, that has refused the request. */
  readonly refusedBy: string | undefined;
  /** For a durable stream, whether the request has begun the stream or has read it again. `undefined`: any other request. */
  readonly durable?: 'new' | 'repeated' | undefined;
  /** The record of the stream. `undefined`: the request has no admitted stream. */
  readonly record: UsageRecord | undefined;
}

/** Is notified of each finished request. */
export interface RequestObserver {
  finished(request: FinishedRequest): void;
}
