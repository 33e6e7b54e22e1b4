import type { HttpStatus } from '@nestjs/common';
import { cutText } from './text/cut-text.js';

/** The maximum number of problems in one error. */
export const MOST_DETAILS = 20;
/** The maximum length of a field path, in characters. */
const FIELD_LENGTH = 200;
const DETAIL_LENGTH = 300;
const MESSAGE_LENGTH = 1_000;

/** All error codes of the API, each with its HTTP status. This is the only table, so no other place can disagree. */
export const ERROR_STATUS = {
  invalid_request: 400,
  upstream_rejected: 400,
  unauthenticated: 401,
  key_revoked: 401,
  forbidden: 403,
  not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limit_exceeded: 429,
  concurrency_limit_exceeded: 429,
  quota_exceeded: 429,
  internal_error: 500,
  upstream_error: 502,
  upstream_unavailable: 503,
  shutting_down: 503,
  unavailable: 503,
  upstream_timeout: 504,
} as const satisfies Record<string, HttpStatus | number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One invalid member of a request. `field` is its path, such as `messages.1.content`. */
export interface ErrorDetail {
  readonly field: string;
  readonly message: string;
}

export interface ServiceErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** A more exact HTTP status than the status of the code. */
  readonly status?: number;
  /** The number of whole seconds after which a retry makes sense. Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Additional response headers, such as `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The original error. It is logged, but never sent to the client. */
  readonly cause?: unknown;
}

/**
 * An error that the client receives.
 *
 * The client gets `message` unchanged. Write it for the caller, without secrets, paths, or text of a provider that could
 * contain secrets. Input of the caller in the message is cut, so that an error is always short.
 *
 * @example throw new ServiceError('model_not_found', `There is no model "${id}".`);
 */
export class ServiceError extends Error {
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP status of the answer. */
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ServiceErrorOptions = {},
  ) {
    super(cutText(message, MESSAGE_LENGTH), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.status = options.status ?? ERROR_STATUS[code];
    this.details = options.details?.slice(0, MOST_DETAILS).map(cutDetail);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }
}

function cutDetail({ field, message }: ErrorDetail): ErrorDetail {
  return { field: cutText(field, FIELD_LENGTH), message: cutText(message, DETAIL_LENGTH) };
}
