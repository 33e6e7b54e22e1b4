import type { HttpStatus } from '@nestjs/common';
import { cutText } from './text/cut-text.js';

/** Most problems that one error names. */
export const MOST_DETAILS = 20;
/** Longest path of a field, in characters. */
const FIELD_LENGTH = 200;
const DETAIL_LENGTH = 300;
const MESSAGE_LENGTH = 1_000;

/** Every error code of the interface with the HTTP status that it answers. One table, so that no two places disagree. */
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

/** One wrong member of a request; `field` is its path, such as `messages.1.content`. */
export interface ErrorDetail {
  readonly field: string;
  readonly message: string;
}

export interface ServiceErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** A more exact HTTP status than the one of the code. */
  readonly status?: number;
  /** Whole seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** More response headers, such as `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What was caught; logged, never sent. */
  readonly cause?: unknown;
}

/**
 * A failure that the client is told of. `message` goes out as it is: write it for the caller, without secrets, paths or
 * a vendor's text that could hold them. What it repeats of the caller's input is cut: an error is short, whatever was sent.
 *
 * @example throw new ServiceError('model_not_found', `There is no model "${id}".`);
 */
export class ServiceError extends Error {
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP status that it answers. */
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
