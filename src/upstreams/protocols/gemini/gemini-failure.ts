import type { ResponseHeaders } from '../../contract/protocol.js';
import { providerFailure, type ProviderFailure } from '../../contract/provider-failure.js';
import { httpFailure } from '../shared/http-failure.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { reportIn, shownCause } from '../shared/provider-report.js';

/** A duration of Google, such as `34s` or `34.4s`. */
const SECONDS = /^(\d{1,9}(?:\.\d{1,9})?)s$/;

/**
 * Converts an error of Google to the error for the caller. Returns `undefined` when the usual conversion fits.
 *
 * Google answers 400 to an invalid key and to an account without access, and puts the time to wait into the body.
 */
export function geminiFailure(
  status: number,
  headers: ResponseHeaders,
  body: JsonObject | undefined,
): ProviderFailure | undefined {
  const error = body?.error;
  if (!isJsonObject(error)) return undefined;
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
  if (details.some(({ reason }) => isText(reason) && reason.startsWith('API_KEY_')))
    return ourFault(status, 'the API key', error);
  if (error.status === 'FAILED_PRECONDITION') return ourFault(status, 'the account', error);
  const seconds = details.map(({ retryDelay }) => secondsOf(retryDelay)).find((delay) => delay !== undefined);
  if (seconds === undefined) return undefined;
  return httpFailure(status, { ...headers, 'retry-after': String(seconds) }, JSON.stringify(body));
}

function ourFault(status: number, refused: string, error: JsonObject): ProviderFailure {
  return providerFailure('upstream_error', `HTTP ${status}: Google refuses ${refused}.`, {
    scope: 'upstream',
    failureCause: { kind: 'unauthorized', status, ...shownCause(reportIn(error)) },
  });
}

function secondsOf(delay: unknown): number | undefined {
  const seconds = isText(delay) ? SECONDS.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds));
}
