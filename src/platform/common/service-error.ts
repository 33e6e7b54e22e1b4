import type { HttpStatus } from '@nestjs/common';
import { cutText } from './text/cut-text.js';

/** The maximum number of problems in one error. */
export const MAX_DETAILS = 20;
/** The maximum length of a field path, in characters. */
const FIELD_LENGTH = 200;
const DETAIL_LENGTH = 300;
const MESSAGE_LENGTH = 1_000;
const MS_PER_SECOND = 1_000;

/** The facts about an error code. */
interface ErrorFacts {
  /** The HTTP status of the response. */
  readonly status: HttpStatus | number;
  /** Who can prevent the error: the caller of the API, the provider of a model, or this service and its operator. */
  readonly fault: 'caller' | 'provider' | 'service';
  /** True if another provider may answer the same request. */
  readonly mayWorkElsewhere?: boolean;
}

/** All error codes of the API. This is the only table, so no other place can disagree. */
export const ERRORS = {
  invalid_request: { status: 400, fault: 'caller' },
  /** The caller has a budget, and the model has no price. */
  model_not_priced: { status: 400, fault: 'caller' },
  upstream_rejected: { status: 400, fault: 'caller' },
  /** Only in a stream. Before the first text, the code is `upstream_rejected`. */
  content_filtered: { status: 400, fault: 'caller' },
  unauthenticated: { status: 401, fault: 'caller' },
  /** Only in a stream. Before the first text, the code is `unauthenticated`. */
  key_revoked: { status: 401, fault: 'caller' },
  forbidden: { status: 403, fault: 'caller' },
  /** The API key may be used from other addresses only. */
  address_not_allowed: { status: 403, fault: 'caller' },
  not_found: { status: 404, fault: 'caller' },
  model_not_found: { status: 404, fault: 'caller' },
  method_not_allowed: { status: 405, fault: 'caller' },
  /** The `Idempotency-Key` was used with another body. */
  idempotency_conflict: { status: 409, fault: 'caller' },
  /** Only in a stream. The client has cancelled the stream, or no client was reading. */
  cancelled: { status: 409, fault: 'caller' },
  /** Only for a session: the page belongs to another account than the one that is signed in now. */
  account_mismatch: { status: 409, fault: 'caller' },
  payload_too_large: { status: 413, fault: 'caller' },
  unsupported_media_type: { status: 415, fault: 'caller' },
  rate_limit_exceeded: { status: 429, fault: 'caller' },
  concurrency_limit_exceeded: { status: 429, fault: 'caller' },
  quota_exceeded: { status: 429, fault: 'caller' },
  /** The money of the account, or of the API key, is spent or reserved. */
  budget_exceeded: { status: 429, fault: 'caller' },
  internal_error: { status: 500, fault: 'service' },
  upstream_error: { status: 502, fault: 'provider', mayWorkElsewhere: true },
  upstream_unavailable: { status: 503, fault: 'provider', mayWorkElsewhere: true },
  shutting_down: { status: 503, fault: 'service' },
  unavailable: { status: 503, fault: 'service' },
  /** Only in a stream. The process that generated the stream was killed. */
  interrupted: { status: 503, fault: 'service' },
  upstream_timeout: { status: 504, fault: 'provider', mayWorkElsewhere: true },
} as const satisfies Record<string, ErrorFacts>;

/** A code of a plugin, see `defineError`. */
type DefinedErrorCode = string & { readonly '~defined': true };
export type BuiltInErrorCode = keyof typeof ERRORS;
export type ErrorCode = BuiltInErrorCode | DefinedErrorCode;

/** The facts about the codes of plugins. */
const definedErrors = new Map<string, ErrorFacts>();

/** The codes that occur only in a stream, after the headers. */
export const STREAM_ONLY_CODES: readonly BuiltInErrorCode[] = [
  'content_filtered',
  'key_revoked',
  'cancelled',
  'interrupted',
];

/** Returns the facts about a code. */
export function factsOf(code: ErrorCode): ErrorFacts {
  return definedErrors.get(code) ?? ERRORS[code as BuiltInErrorCode];
}

/** Whether a plugin has defined the code. */
export function isDefinedCode(code: ErrorCode): code is DefinedErrorCode {
  return definedErrors.has(code);
}

/**
 * Adds a code. For `defineError` only.
 *
 * @throws {Error} when the code exists with other facts.
 */
function addErrorCode(code: string, facts: ErrorFacts): DefinedErrorCode {
  const known = definedErrors.get(code);
  const isSame = known === undefined || (known.status === facts.status && known.fault === facts.fault);
  if (Object.hasOwn(ERRORS, code) || !isSame) throw new Error(`The error code ${code} exists already.`);
  definedErrors.set(code, facts);
  return code as DefinedErrorCode;
}

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
  /** The same in milliseconds, if the time is known exactly. The seconds then follow from it. */
  readonly retryAfterMs?: number | undefined;
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
 * @since 1.0
 *
 * @example throw new ServiceError('model_not_found', `There is no model "${id}".`);
 */
export class ServiceError extends Error {
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP status of the response. */
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ServiceErrorOptions = {},
  ) {
    super(cutText(message, MESSAGE_LENGTH), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.status = options.status ?? factsOf(code).status;
    this.details = options.details?.slice(0, MAX_DETAILS).map(cutDetail);
    const { retryAfterMs: exactMs, retryAfterSeconds: seconds } = options;
    this.retryAfterSeconds = exactMs === undefined ? seconds : Math.max(1, Math.ceil(exactMs / MS_PER_SECOND));
    this.retryAfterMs = exactMs ?? (seconds === undefined ? undefined : seconds * MS_PER_SECOND);
    this.headers = options.headers ?? {};
  }
}

function cutDetail({ field, message }: ErrorDetail): ErrorDetail {
  return { field: cutText(field, FIELD_LENGTH), message: cutText(message, DETAIL_LENGTH) };
}

/** Two words or more, so that no later code of the service can be the same. */
const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;

interface ErrorDefinition {
  /** The HTTP status of the response, 400 to 599. */
  readonly status: number;
  /** When the error occurs, in one sentence, for the OpenAPI document. */
  readonly description: string;
  /** Who can prevent the error. By default the caller for a status below 500, otherwise this service. */
  readonly fault?: ErrorFacts['fault'];
}

/**
 * A class of errors with a code of their own.
 *
 * @since 1.0
 */
export interface DefinedError {
  readonly code: DefinedErrorCode;
  readonly status: number;
  readonly description: string;
  /** @param message is sent to the client unchanged, see {@link ServiceError}. */
  new (message: string, options?: Omit<ServiceErrorOptions, 'status'>): ServiceError;
}

/**
 * Defines an error code of a plugin. Name the class in `errors` of the plugin, so that the OpenAPI document contains it.
 *
 * @param code lower-case words joined by underscores. Begin with the name of the plugin.
 * @throws {Error} when the definition is invalid, or the code exists already.
 * @since 1.0
 *
 * @example
 * ```ts
 * export const GuardrailError = defineError('acme_guardrail', { status: 422, description: 'The guardrail refuses the text.' });
 *
 * throw new GuardrailError('The message contains a card number.');
 * ```
 */
export function defineError(code: string, { status, description, fault }: ErrorDefinition): DefinedError {
  if (!CODE.test(code)) throw new Error(`The error code "${code}" must be lower-case words joined by underscores.`);
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new Error(`The status of the error ${code} must be a whole number from 400 to 599.`);
  }
  const defined = addErrorCode(code, { status, fault: fault ?? (status < 500 ? 'caller' : 'service') });
  return class extends ServiceError {
    static readonly code = defined;
    static readonly status = status;
    static readonly description = description;

    constructor(message: string, options?: Omit<ServiceErrorOptions, 'status'>) {
      super(defined, message, options);
    }
  };
}
