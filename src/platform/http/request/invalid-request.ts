import { MAX_DETAILS, ServiceError, type ErrorDetail } from '../../common/service-error.js';

/** The message about a member of the body that the API does not define. */
export const UNKNOWN_MEMBER = 'is not a known member';

const MAX_NAMED_IN_MESSAGE = 3;

/**
 * Throws an error if there is at least one problem. Reads only as many problems as an error can name, so that a generator
 * stops early.
 *
 * @throws {ServiceError} `invalid_request` with the problems.
 */
export function refuseAny(problems: Iterable<ErrorDetail>): void {
  const found = firstOf(problems);
  if (found.length > 0) throw errorOf(found);
}

/** Creates the error for these problems. There must be at least one problem. */
export function invalidRequest(problems: Iterable<ErrorDetail>): ServiceError {
  return errorOf(firstOf(problems));
}

/** Returns at most one problem more than an error can name. The extra problem shows that there are more. */
function firstOf(problems: Iterable<ErrorDetail>): ErrorDetail[] {
  const found: ErrorDetail[] = [];
  for (const problem of problems) {
    found.push(problem);
    if (found.length > MAX_DETAILS) break;
  }
  return found;
}

function errorOf(found: readonly ErrorDetail[]): ServiceError {
  const details = found.slice(0, MAX_DETAILS);
  const named = details.slice(0, MAX_NAMED_IN_MESSAGE).map(({ field }) => field);
  const others = details.length - named.length;
  const atLeast = found.length > details.length ? 'at least ' : '';
  const rest = others === 0 ? '' : ` and ${atLeast}${others} more`;
  return new ServiceError('invalid_request', `The request is invalid: see ${named.join(', ')}${rest}.`, { details });
}
