import { ServiceError, type ServiceErrorOptions } from '../../common/service-error.js';

export type ProviderFailureCode = 'upstream_error' | 'upstream_unavailable' | 'upstream_rejected' | 'upstream_timeout';

/**
 * What a failure concerns. `route`: one model at one upstream. `upstream`: the whole upstream, for example a refused
 * connection or an invalid key. The service then opens the circuit of the route, or of the whole upstream.
 */
export type FailureScope = 'route' | 'upstream';

export interface ProviderFailureOptions extends ServiceErrorOptions {
  /** By default `route`. */
  readonly scope?: FailureScope;
  /** Whether the provider has refused the prompt because of its length. */
  readonly isPromptTooLong?: boolean;
}

/**
 * A failure of a provider.
 *
 * @since 1.0
 */
export class ProviderFailure extends ServiceError {
  readonly scope: FailureScope;

  constructor(
    code: ProviderFailureCode,
    message: string,
    { scope = 'route', ...options }: ProviderFailureOptions = {},
  ) {
    super(code, message, options);
    this.scope = scope;
  }
}

/**
 * The messages for the caller. They never contain text of the provider, because that text can contain account names and keys.
 */
const MESSAGES: Readonly<Record<ProviderFailureCode, string>> = {
  upstream_error: 'The provider failed.',
  upstream_timeout: 'The provider did not answer in time.',
  upstream_unavailable: 'The provider is overloaded or limits the requests of this service.',
  upstream_rejected:
    'The provider rejected the request. The prompt may be too long for the model, or violate its content policy.',
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
