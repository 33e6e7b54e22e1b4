import type { ResponseHeaders } from '../../contract/protocol.js';
import { providerFailure, type ProviderFailure } from '../../contract/provider-failure.js';
import { parseJsonObject } from './json-object.js';
import { codeOfStatus, isPromptTooLong, labelsOf, reportedFailure, scopeOf, shownLabels } from './reported-failure.js';
import { retryAfterSeconds } from './retry-after.js';

const OK = 200;
const UNAUTHORIZED = 401;
const PAYMENT_REQUIRED = 402;

/**
 * Converts a response that is not a stream to the error for the caller. The code follows from the status, and from the error
 * in the body if the status is 200.
 *
 * @param body the beginning of the body.
 */
export function httpFailure(status: number, headers: ResponseHeaders, body: string): ProviderFailure {
  const report = parseJsonObject(body);
  if (status === OK) {
    if (report === undefined) return providerFailure('upstream_error', 'The response is not a stream.');
    return reportedFailure(report.error ?? report, report);
  }
  const labels = labelsOf(report?.error ?? report, report);
  const code = codeOfStatus(status);
  const seconds =
    code === 'upstream_unavailable' ? retryAfterSeconds(first(headers['retry-after']), Date.now()) : undefined;
  return providerFailure(code, `HTTP ${status} ${shownLabels(labels)}`.trimEnd(), {
    ...(seconds !== undefined && { retryAfterSeconds: seconds }),
    isPromptTooLong: isPromptTooLong(report?.error ?? report, report),
    scope: status === UNAUTHORIZED || status === PAYMENT_REQUIRED ? 'upstream' : scopeOf(labels),
  });
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
