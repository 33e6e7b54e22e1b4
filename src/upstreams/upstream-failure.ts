import { ServiceError } from '../common/service-error.js';
import { parseJsonObject } from './protocols/json-object.js';
import { codeOfStatus, labelsOf, vendorFailure } from './protocols/vendor-failure.js';

/** What a vendor's refusal means for the caller. */
export function failureOfStatus(status: number, retryAfter: string | undefined, body: string): ServiceError {
  const report = parseJsonObject(body);
  const labels = labelsOf(report?.error ?? report, report);
  const code = codeOfStatus(status);
  const retryAfterSeconds = code === 'upstream_unavailable' ? secondsOf(retryAfter) : undefined;
  const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return vendorFailure(code, ['HTTP', status, ...labels].join(' '), options);
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
