import type { RateLimits } from './chat-types.js';

/**
 * The error codes of the service. An extension of the service can add others.
 *
 * @since 1.0
 */
export type ErrorCode =
  | 'invalid_request'
  | 'model_not_priced'
  | 'upstream_rejected'
  | 'content_filtered'
  | 'unauthenticated'
  | 'key_revoked'
  | 'forbidden'
  | 'address_not_allowed'
  | 'not_found'
  | 'model_not_found'
  | 'method_not_allowed'
  | 'idempotency_conflict'
  | 'account_mismatch'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'rate_limit_exceeded'
  | 'concurrency_limit_exceeded'
  | 'quota_exceeded'
  | 'budget_exceeded'
  | 'cancelled'
  | 'interrupted'
  | 'internal_error'
  | 'upstream_error'
  | 'upstream_unavailable'
  | 'shutting_down'
  | 'unavailable'
  | 'upstream_timeout'
  | (string & {});

/**
 * An invalid member of the request. `field` is its path, such as `messages.1.content`.
 *
 * @since 1.0
 */
export interface ErrorDetail {
  readonly field: string;
  readonly message: string;
}

/** Facts about a failure. A fact is `undefined` if it is unknown. */
interface Facts {
  /** The text that arrived before the failure. The text is only a part of the answer. */
  readonly partialText?: string;
  readonly requestId?: string | undefined;
  readonly rateLimits?: RateLimits | undefined;
  /** From the header `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /** The invalid members of the request. */
  readonly details?: readonly ErrorDetail[];
  readonly cause?: unknown;
}

/**
 * Why there is no complete answer:
 *
 * - `refused`: an HTTP error. `code` is `undefined` if the error is not from the service, but for example from a proxy.
 * - `failed`: the answer began, and the service reported a failure with an `error` event.
 * - `cut`: the answer began, and the connection ended, broke or became silent before the answer was complete.
 * - `unreachable`: no response arrived.
 * - `invalid`: the response is not a chat stream.
 *
 * @since 1.0
 */
export type ChatFailure = Facts &
  (
    | { readonly kind: 'refused'; readonly status: number; readonly code: ErrorCode | undefined }
    | { readonly kind: 'failed'; readonly status?: undefined; readonly code: ErrorCode | undefined }
    | { readonly kind: 'cut' | 'unreachable' | 'invalid'; readonly status?: undefined; readonly code?: undefined }
  );

class FailedChat extends Error {
  override readonly name = 'ChatError';

  constructor(message: string, failure: ChatFailure) {
    super(message);
    Object.assign(this, failure);
  }
}

/**
 * The error of a failed call. `kind` tells the failures apart: see {@link ChatFailure}.
 *
 * @since 1.0
 */
export type ChatError = Error & ChatFailure;
export const ChatError = FailedChat as unknown as new (message: string, failure: ChatFailure) => ChatError;
