import { ServiceError } from '../../../common/service-error.js';

/**
 * Creates the error for messages that a provider could never accept.
 *
 * @param problem the end of a sentence that begins with the name of the field, such as `must not be empty`.
 */
export function invalidMessages(problem: string): ServiceError {
  return new ServiceError('invalid_request', `The field messages ${problem}.`, {
    details: [{ field: 'messages', message: problem }],
  });
}
