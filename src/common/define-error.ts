import {
  addErrorCode,
  ServiceError,
  type DefinedErrorCode,
  type ErrorFacts,
  type ServiceErrorOptions,
} from './service-error.js';

/** Two words or more, so that no later code of the service can be the same. */
const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;

export interface ErrorDefinition {
  /** The HTTP status of the response, 400 to 599. */
  readonly status: number;
  /** When the error occurs, in one sentence, for the OpenAPI document. */
  readonly description: string;
  /** Who can prevent the error. By default the caller for a status below 500, otherwise this service. */
  readonly fault?: ErrorFacts['fault'];
}

/** A class of errors with a code of their own. */
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
