import type { ErrorCode, ErrorDetail, ServiceError } from '../../common/service-error.js';

/** The body of every error outside a stream. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly request_id: string;
    readonly details?: readonly ErrorDetail[];
  };
}

/** The maximum size of the body, as JSON in UTF-8. It is below 16 KB. */
const MAX_BYTES = 15_000;

/**
 * Creates the error body. Leaves out details from the end if all details would make the body too large: a character can
 * take 6 bytes.
 */
export function errorBody({ code, message, details }: ServiceError, requestId: string): ErrorBody {
  const brief = { code, message, request_id: requestId };
  if (details === undefined) return { error: brief };
  let count = details.length;
  while (count > 1 && bytesOf({ error: { ...brief, details: details.slice(0, count) } }) > MAX_BYTES) count -= 1;
  return { error: { ...brief, details: details.slice(0, count) } };
}

function bytesOf(body: ErrorBody): number {
  return Buffer.byteLength(JSON.stringify(body));
}
