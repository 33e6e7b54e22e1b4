import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { principalOf, type Principal } from '../auth/principal/principal.js';
import { clientGone } from '../platform/http/request/client-gone.js';
import type { RequestContext } from '../platform/http/request/request-context.js';
import type { ServiceError } from '../platform/common/service-error.js';
import type { Lease } from '../throttling/limit-store.js';
import type { UsageRecord } from '../usage/record/usage-record.js';

/** A lease for one completion. */
export interface CompletionLease extends Lease {
  /** Called when the completion begins. From then on, the service always settles the lease. */
  takeOver?(): void;
  /** Returns the same lease for one more completion of the request. The lease adds up what all of them use. */
  part?(): CompletionLease;
  /** Returns the error if fewer tokens are left of the request than a completion needs, because the limits had not more of them. */
  shortage?(needed: number): ServiceError | undefined;
  /** Called when a hook has refused the request. The limits then do not count it, if no other completion of it has begun. */
  giveBack?(): Promise<void>;
}

/**
 * Who asks for a completion. In a controller, `@Caller()` returns this object for the request.
 *
 * @since 1.0
 */
export interface ChatCaller {
  readonly principal: Principal;
  /** Aborts when the client has left. This stops the work of the provider. */
  readonly signal: AbortSignal;
  /** Identifies the completion in logs, in the ledger and in receipts. At most 128 letters, digits and `_.:-`. */
  readonly requestId: string;
  /**
   * The reservation from the limits of the account, if the account has limits. The service settles and releases it when the
   * completion is over. The lease of a request adds up the tokens of all its completions, and ends with the response.
   */
  readonly lease?: CompletionLease | undefined;
  /**
   * True for a completion without a request, such as one of a job, that the limits of the account count: as a request with this body to
   * `POST /chat/stream`. The slot and the tokens are held until the completion is over. A refusal is the error of such a request, with its
   * code and `retryAfterSeconds`. Without effect for a caller with a {@link lease}.
   *
   * @since 1.0
   */
  readonly isLimited?: boolean | undefined;
  /**
   * True for a request that was admitted before the process began to stop. Its completions may begin until the grace period is over;
   * others are then refused with `shutting_down`.
   */
  readonly isAdmitted?: boolean | undefined;
  /** True when the completion continues although the client of the request has left. For the ledger only. */
  readonly detached?: boolean;
  /**
   * Called when the answer is complete, with its record. The record is kept when the result is there: with the failure of the
   * result, if the complete answer could not be delivered. By default, a complete answer is delivered.
   */
  readonly onComplete?: ((record: UsageRecord) => Promise<ServiceError | undefined>) | undefined;
  /** How long the client has waited already, in milliseconds. */
  readonly waitedMs?: number | undefined;
  /** The request whose log line and metrics show the completion. */
  readonly context?: RequestContext;
}

/**
 * Parameter decorator: the {@link ChatCaller} of the request, for `ChatService`. Not for routes that are `@Public()`. The
 * lease is there if the route is `@LimitedByTier()`.
 *
 * @since 1.0
 */
export const Caller = createParamDecorator((_: unknown, execution: ExecutionContext): ChatCaller => {
  const http = execution.switchToHttp();
  const request = http.getRequest<Request>();
  const { context } = request;
  return {
    principal: principalOf(request),
    signal: clientGone(http.getResponse<Response>()),
    requestId: context.requestId,
    lease: context.counted?.lease,
    isAdmitted: context.counted?.isAdmitted,
    context,
  };
});
