import { ServiceError, type ServiceErrorOptions } from '../common/service-error.js';

const REJECTED = new Set([400, 413, 422]);
const OVERLOADED = new Set([429, 503, 529]);
const TIMED_OUT = new Set([408, 504]);

/** What a vendor's refusal means for the caller. `vendorText` goes to the log only: it may hold secrets. */
export function failureOfStatus(status: number, retryAfter: string | undefined, vendorText: string): ServiceError {
  const cause = new Error(`The vendor answered ${status}: ${vendorText}`);
  if (REJECTED.has(status)) {
    return new ServiceError(
      'upstream_rejected',
      'The vendor refused the request: it may be too long for the model, or against the content policy of the vendor.',
      { cause },
    );
  }
  if (OVERLOADED.has(status)) {
    const retryAfterSeconds = secondsOf(retryAfter);
    const options: ServiceErrorOptions = retryAfterSeconds === undefined ? { cause } : { cause, retryAfterSeconds };
    return new ServiceError('upstream_unavailable', 'The vendor is overloaded or limits our requests.', options);
  }
  if (TIMED_OUT.has(status)) return new ServiceError('upstream_timeout', 'The vendor gave no answer in time.', { cause });
  return new ServiceError('upstream_error', 'The vendor failed.', { cause });
}

/** What a broken or impossible connection means for the caller. */
export function failureOfConnection(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = (error as { readonly code?: string }).code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new ServiceError('upstream_timeout', 'The vendor could not be reached in time.', { cause: error });
  }
  return new ServiceError('upstream_error', 'The connection to the vendor failed.', { cause: error });
}

/** Both forms of `Retry-After`, as whole seconds from now. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
