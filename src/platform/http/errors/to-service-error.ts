import { HttpException, HttpStatus } from '@nestjs/common';
import { ServiceError, type ErrorCode } from '../../common/service-error.js';

/** The error codes and messages for HTTP errors that the framework or its parsers throw, by status. */
const BY_STATUS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  [HttpStatus.BAD_REQUEST]: ['invalid_request', 'The request is malformed.'],
  [HttpStatus.UNAUTHORIZED]: ['unauthenticated', 'A valid API key or session is required.'],
  [HttpStatus.FORBIDDEN]: ['forbidden', 'This is not allowed.'],
  [HttpStatus.NOT_FOUND]: ['not_found', 'This path does not exist.'],
  [HttpStatus.METHOD_NOT_ALLOWED]: ['method_not_allowed', 'This path does not support this method.'],
  [HttpStatus.PAYLOAD_TOO_LARGE]: ['payload_too_large', 'The body is too large.'],
  [HttpStatus.UNSUPPORTED_MEDIA_TYPE]: ['unsupported_media_type', 'The body must be application/json.'],
  [HttpStatus.TOO_MANY_REQUESTS]: ['rate_limit_exceeded', 'Too many requests.'],
  [HttpStatus.SERVICE_UNAVAILABLE]: ['unavailable', 'The service is unavailable right now.'],
};

/**
 * Converts a thrown value to the error that the client gets. An error that is not known to be the fault of the caller
 * becomes an `internal_error`, with the original error as its cause.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const status = thrown instanceof HttpException ? thrown.getStatus() : statusOfMiddlewareError(thrown);
  const known = status === undefined ? undefined : BY_STATUS[status];
  if (known !== undefined) return new ServiceError(known[0], known[1], { cause: thrown });
  if (status !== undefined && status >= 400 && status < 500) {
    return new ServiceError('invalid_request', 'The request is malformed.', { cause: thrown });
  }
  return new ServiceError('internal_error', 'Something went wrong on our side.', { cause: thrown });
}

/**
 * Returns the status of an error from Connect-style middleware. Such middleware marks an error that the client may see with
 * `expose` and a status.
 */
function statusOfMiddlewareError(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { status, expose } = thrown as { status?: unknown; expose?: unknown };
  return typeof status === 'number' && expose === true ? status : undefined;
}
