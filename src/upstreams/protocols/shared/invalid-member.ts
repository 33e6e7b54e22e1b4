import { ServiceError } from '../../../common/service-error.js';

/**
 * Creates the error for a member of a request that a provider could never accept.
 *
 * @param problem the end of a sentence that begins with the name of the member, such as `must not be empty`.
 */
export function invalidMember(member: string, problem: string): ServiceError {
  return new ServiceError('invalid_request', `The field ${member} ${problem}.`, {
    details: [{ field: member, message: problem }],
  });
}
