import type { ServiceError } from '../../common/service-error.js';
import { cutText } from '../../common/text/cut-text.js';

const MAX_MESSAGE_LENGTH = 4_000;
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

/** The body of an error response, and the data of an error event, in the format of Anthropic. */
export function anthropicError(error: ServiceError, requestId: string): object {
  const type = TYPES.get(error.status) ?? (error.status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message: messageOf(error), ...threadDetails(error) }, request_id: requestId };
}

/** Returns what makes a client with threads send the whole conversation again. */
function threadDetails({ details = [] }: ServiceError): object {
  return details.some(({ field }) => field === 'thread') ? { details: { error_code: 'thread_not_found' } } : {};
}

/** The format has no member for details, so the message names each invalid member. */
function messageOf({ code, message, details = [] }: ServiceError): string {
  if (details.length === 0 || code !== 'invalid_request') return message;
  const problems = details.map(({ field, message: problem }) => `${field}: ${problem}`).join('; ');
  return cutText(problems, MAX_MESSAGE_LENGTH);
}
