import type { Request } from 'express';
import { cutText, type ServiceError } from '../../../plugin-api/core/common.js';
import { isPromptTooLong } from '../../../plugin-api/core/upstreams.js';

const MAX_MESSAGE_LENGTH = 4_000;

const OPENAI_TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [429, 'rate_limit_error'],
]);

/** The codes that clients of OpenAI know, for codes of the service. */
const OPENAI_CODES: Readonly<Record<string, string>> = {
  unauthenticated: 'invalid_api_key',
  key_revoked: 'invalid_api_key',
  quota_exceeded: 'insufficient_quota',
  budget_exceeded: 'insufficient_quota',
};

const ANTHROPIC_TYPES: ReadonlyMap<number, string> = new Map([
  ...OPENAI_TYPES,
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** Returns an error in the format of OpenAI: the body of an error response, and the data of an error event. */
export function openAiError(error: ServiceError): OpenAiError {
  const { status } = error;
  return {
    error: {
      message: messageOf(error),
      type: OPENAI_TYPES.get(status) ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: error.details?.[0]?.field ?? null,
      code: isTooLong(error) ? 'context_length_exceeded' : (OPENAI_CODES[error.code] ?? error.code),
    },
  };
}

/** Returns the body of an error response. An unknown path may be one of another API of the service, so its error has both formats. */
export function openAiErrorBody(error: ServiceError, { context: { requestId } }: Request): object {
  const body = openAiError(error);
  return error.code === 'not_found' ? { error: { ...body.error, request_id: requestId } } : body;
}

/** The same in the format of Anthropic. */
export function anthropicError(error: ServiceError, requestId: string): object {
  const type = ANTHROPIC_TYPES.get(error.status) ?? (error.status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message: messageOf(error), ...threadDetails(error) }, request_id: requestId };
}

/** Returns what makes a client with threads send the whole conversation again. */
function threadDetails({ details = [] }: ServiceError): object {
  return details.some(({ field }) => field === 'thread') ? { details: { error_code: 'thread_not_found' } } : {};
}

/** Whether the provider has refused a prompt because of its length. */
export function isTooLong({ code, message }: ServiceError): boolean {
  return code === 'upstream_rejected' && isPromptTooLong(message);
}

/** The formats have no member for details, so the message names each invalid member. */
function messageOf({ code, message, details = [] }: ServiceError): string {
  if (details.length === 0 || code !== 'invalid_request') return message;
  return cutText(details.map(({ field, message: problem }) => `${field}: ${problem}`).join('; '), MAX_MESSAGE_LENGTH);
}
