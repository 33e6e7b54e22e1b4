import { factsOf, ServiceError, type ServiceErrorOptions } from '../../platform/common/service-error.js';

export type ProviderFailureCode = 'upstream_error' | 'upstream_unavailable' | 'upstream_rejected' | 'upstream_timeout';

/**
 * What a failure concerns. `route`: one model at one upstream. `upstream`: the whole upstream, for example a refused
 * connection or an invalid key. The service then opens the circuit of the route, or of the whole upstream.
 */
export type FailureScope = 'route' | 'upstream';

export const FAILURE_KINDS = [
  /** The provider refuses the key or the account of the service. */
  'unauthorized',
  /** The service could not obtain the credentials for the provider. */
  'credentials_unavailable',
  /** The provider limits the requests of the service. */
  'rate_limited',
  /** The provider refuses the request. */
  'rejected',
  /** The provider has an error, or is overloaded. */
  'server',
  /** The provider did not answer in time. */
  'timeout',
  /** There is no connection to the provider. */
  'connection',
  /** The provider sent something that is not an answer, or only a part of an answer. */
  'protocol',
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** The cause of a failure in short words. No member contains text of a conversation, or a key. */
export interface FailureCause {
  readonly kind: FailureKind;
  /** The HTTP status of the provider. */
  readonly status?: number | undefined;
  /** The type and the code of the error, as the provider names them. */
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The path of the parameter that the provider refuses, such as `messages[0].content`. */
  readonly param?: string | undefined;
}

interface ProviderFailureOptions extends ServiceErrorOptions {
  /** By default `route`. */
  readonly scope?: FailureScope;
  /** Whether the provider has refused the prompt because of its length. */
  readonly isPromptTooLong?: boolean;
  /** By default only the usual kind of the code. */
  readonly failureCause?: FailureCause;
  /**
   * What the provider says to the caller, unchanged. The service cleans the message before the caller gets it, and never logs it,
   * because it can repeat the prompt.
   */
  readonly providerMessage?: string | undefined;
}

/** The usual kinds of the failures with these codes. */
const KINDS: Readonly<Record<ProviderFailureCode, FailureKind>> = {
  upstream_error: 'protocol',
  upstream_timeout: 'timeout',
  upstream_unavailable: 'rate_limited',
  upstream_rejected: 'rejected',
};

/**
 * A failure of a provider.
 *
 * @since 1.0
 */
export class ProviderFailure extends ServiceError {
  readonly scope: FailureScope;
  readonly isPromptTooLong: boolean;
  readonly failureCause: FailureCause;
  // A private member cannot get into a log by accident.
  readonly #providerMessage: string | undefined;

  constructor(code: ProviderFailureCode, message: string, options: ProviderFailureOptions = {}) {
    super(code, message, options);
    this.scope = options.scope ?? 'route';
    this.isPromptTooLong = options.isPromptTooLong ?? false;
    this.failureCause = options.failureCause ?? { kind: KINDS[code] };
    this.#providerMessage = options.providerMessage;
  }

  /** What the provider says, unchanged. */
  get providerMessage(): string | undefined {
    return this.#providerMessage;
  }
}

/**
 * The messages for the caller, if the provider says nothing that may be shown.
 */
const MESSAGES: Readonly<Record<ProviderFailureCode, string>> = {
  upstream_error: 'The provider failed.',
  upstream_timeout: 'The provider did not answer in time.',
  upstream_unavailable: 'The provider is overloaded or limits the requests of this service.',
  upstream_rejected:
    'The provider rejected the request, without a reason that can be shown here. The operator of this service finds the ' +
    'cause in the log, by the request id.',
};

/** The message of `upstream_rejected` for a prompt that is longer than the context of the model. */
export const PROMPT_TOO_LONG = 'The provider rejected the request: the prompt is too long for the model.';

/**
 * Creates the error for a failure of a provider, with the usual message for its code.
 *
 * @param reason the reason for the log. It must not contain text of a conversation, or a key.
 * @since 1.0
 */
export function providerFailure(
  code: ProviderFailureCode,
  reason: string,
  options: ProviderFailureOptions = {},
): ProviderFailure {
  const isTooLong = code === 'upstream_rejected' && options.isPromptTooLong === true;
  return new ProviderFailure(code, isTooLong ? PROMPT_TOO_LONG : MESSAGES[code], {
    ...options,
    cause: new Error(reason),
  });
}

/**
 * Creates the failure of an upstream whose credentials cannot be obtained. Other upstreams of the model are tried.
 *
 * @param reason the reason for the log. It must not contain a secret.
 * @since 1.0
 */
export function credentialsUnavailable(reason: string, cause: Omit<FailureCause, 'kind'> = {}): ProviderFailure {
  return providerFailure('upstream_error', reason, {
    scope: 'upstream',
    failureCause: { kind: 'credentials_unavailable', ...cause },
  });
}

/** Returns the cause of any failure of an attempt. */
export function causeOf(failure: ServiceError): FailureCause {
  if (failure instanceof ProviderFailure) return failure.failureCause;
  const { code } = failure;
  if (code in KINDS) return { kind: KINDS[code as ProviderFailureCode] };
  return { kind: factsOf(code).fault === 'caller' ? 'rejected' : 'protocol' };
}

/** What the causes mean that only an operator can remove. */
const MEANINGS: Readonly<Partial<Record<FailureKind, string>>> = {
  unauthorized: 'the provider refuses the key or the account of the service',
  credentials_unavailable: 'the service gets no credentials for the provider',
};

/** Returns the code and the cause of a failure in one line, for operators. */
export function failureText(code: string, cause: FailureCause): string {
  const meaning = MEANINGS[cause.kind];
  return `${code} (${causeText(cause)})${meaning === undefined ? '' : `: ${meaning}`}`;
}

/** Returns a cause in one line, such as `unauthorized, HTTP 401, invalid_api_key`. */
export function causeText({ kind, status, type, code, param }: FailureCause): string {
  const labels = [...new Set([type, code])].filter((label) => label !== undefined && label !== String(status));
  return [
    kind,
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...labels,
    ...(param === undefined ? [] : [`param ${param}`]),
  ].join(', ');
}
