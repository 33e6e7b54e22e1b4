import type { Principal } from '../../auth/principal/principal.js';
import type { ErrorCode } from '../../common/service-error.js';
import type { UsageRecord } from '../../usage/record/usage-record.js';

/** A request that is over, as it may be told of: nothing here was written by a client, but for its well-formed request id. */
export interface FinishedRequest {
  readonly requestId: string;
  /** Where traces are on. */
  readonly traceId: string | undefined;
  readonly method: string;
  /** The pattern of the path; `undefined` where no route took the request. */
  readonly route: string | undefined;
  /** `undefined` when the client left before there was an answer. */
  readonly status: number | undefined;
  /** All that was sent has left this process. */
  readonly isAnswered: boolean;
  readonly durationMs: number;
  /** Of the answer, with its headers. */
  readonly bytes: number;
  /** Who is known to have asked, where the route asks for it. */
  readonly principal: Principal | undefined;
  /** What the client was told in place of an answer, or at the end of a part of one. */
  readonly errorCode: ErrorCode | undefined;
  /** Of the stream, where one was admitted. */
  readonly record: UsageRecord | undefined;
}

/** Is told of every request that is over. */
export interface RequestObserver {
  finished(request: FinishedRequest): void;
}
