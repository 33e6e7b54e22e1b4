import type { ErrorCode, ErrorDetail, ServiceError } from './service-error.js';

/** The body of every error outside a stream. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly request_id: string;
    readonly details?: readonly ErrorDetail[];
  };
}

export function errorBody(error: ServiceError, requestId: string): ErrorBody {
  const { code, message, details } = error;
  return { error: { code, message, request_id: requestId, ...(details === undefined ? {} : { details }) } };
}
