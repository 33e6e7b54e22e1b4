import { ServiceError } from '../../common/service-error.js';
import { parseJsonObject } from '../protocols/shared/json-object.js';
import { codeOfStatus, labelsOf, shownLabels, providerFailure } from '../protocols/shared/provider-failure.js';
import { retryAfterSeconds } from './retry-after.js';

/** Converts an HTTP error status of a provider to the error for the caller. */
export function failureOfStatus(status: number, retryAfter: string | undefined, body: string): ServiceError {
  const report = parseJsonObject(body);
  const labels = shownLabels(labelsOf(report?.error ?? report, report));
  const code = codeOfStatus(status);
  const seconds = code === 'upstream_unavailable' ? retryAfterSeconds(retryAfter, Date.now()) : undefined;
  const options = seconds === undefined ? {} : { retryAfterSeconds: seconds };
  return providerFailure(code, `HTTP ${status} ${labels}`.trimEnd(), options);
}

/** Converts a connection failure to the error for the caller. */
export function failureOfConnection(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = (error as { readonly code?: string }).code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new ServiceError('upstream_timeout', 'The provider could not be reached in time.', { cause: error });
  }
  return new ServiceError('upstream_error', 'The connection to the provider failed.', { cause: error });
}
