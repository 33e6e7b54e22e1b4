import { ServiceError, type ServiceErrorOptions } from '../../../common/service-error.js';
import { isJsonObject, isText, type JsonObject } from './json-object.js';
import { knownLabel } from './known-labels.js';

export type ProviderFailureCode = 'upstream_error' | 'upstream_unavailable' | 'upstream_rejected' | 'upstream_timeout';

/**
 * The messages for the caller. They never contain text of the provider, because that text can contain account names and keys.
 */
const MESSAGES: Readonly<Record<ProviderFailureCode, string>> = {
  upstream_error: 'The provider failed.',
  upstream_timeout: 'The provider gave no answer in time.',
  upstream_unavailable: 'The provider is overloaded or limits our requests.',
  upstream_rejected:
    'The provider refused the request: it may be too long for the model, or against the content policy of the provider.',
};

/** The error codes by HTTP status, also for a status number in a late error. Every other status is `upstream_error`. */
const CODE_BY_STATUS: ReadonlyMap<number, ProviderFailureCode> = new Map([
  [400, 'upstream_rejected'],
  [408, 'upstream_timeout'],
  [413, 'upstream_rejected'],
  [422, 'upstream_rejected'],
  [429, 'upstream_unavailable'],
  [503, 'upstream_unavailable'],
  [504, 'upstream_timeout'],
  [529, 'upstream_unavailable'],
]);

/** Matches labels that are short and simple. A sentence of a conversation does not match. */
const LABEL = /^[\w .:-]{1,64}$/;

/**
 * The account or the configuration of the service is invalid. OpenAI reports some of these failures as
 * `invalid_request_error`, but a caller cannot fix them.
 */
const OUR_FAULT = /api_?key|auth|permission|billing|deactivated|not_?found/;
const OVERLOADED = /rate_?limit|too_?many|overload|unavailable|capacity|quota|exhausted|slow_?down/;
const REFUSED =
  /invalid.?(?:request|argument|prompt)|bad_?request|validation|context|too_(?:large|long)|content|policy|moderation/;

/**
 * Creates the error for a failure of a provider.
 *
 * @param reason the reason for the log: written by the service, or the known labels of the provider.
 */
export function providerFailure(
  code: ProviderFailureCode,
  reason: string,
  options: ServiceErrorOptions = {},
): ServiceError {
  return new ServiceError(code, MESSAGES[code], { ...options, cause: new Error(reason) });
}

/**
 * Converts a failure that a provider sends in an event of the stream.
 *
 * @param error the error value of the event: usually an object with `message`, `type` and `code`, sometimes only a text.
 * @param envelope the object that has `error` as a member. Some providers put the code into this object.
 */
export function reportedFailure(error: unknown, envelope: JsonObject = {}): ServiceError {
  const labels = labelsOf(error, envelope);
  return providerFailure(codeOf(labels), shownLabels(labels) || 'The provider gave no reason.');
}

/**
 * Returns the words and numbers that a provider uses to classify its failure. Does not return the `message`, because it can
 * repeat the prompt or contain a key. Labels can do this too: log only the result of {@link shownLabels}.
 */
export function labelsOf(error: unknown, envelope: JsonObject = {}): readonly (string | number)[] {
  const report = isJsonObject(error) ? error : envelope;
  const metadata = isJsonObject(report.metadata) ? report.metadata : {};
  return [report.type, report.code, report.status, report.error_type, metadata.error_type].filter(isLabel);
}

/** Returns the known labels, with `other` in place of each unknown label. */
export function shownLabels(labels: readonly (string | number)[]): string {
  return [...new Set(labels.map(knownLabel))].join(' ');
}

function isLabel(value: unknown): value is string | number {
  return typeof value === 'number' || isText(value);
}

/** Returns the error code for an HTTP status of a provider. */
export function codeOfStatus(status: number): ProviderFailureCode {
  return CODE_BY_STATUS.get(status) ?? 'upstream_error';
}

function codeOf(labels: readonly (string | number)[]): ProviderFailureCode {
  const words = labels
    .map(String)
    .filter((label) => LABEL.test(label))
    .join(' ')
    .toLowerCase();
  if (OUR_FAULT.test(words)) return 'upstream_error';
  for (const label of labels) {
    const code = CODE_BY_STATUS.get(Number(label));
    if (code !== undefined) return code;
  }
  if (OVERLOADED.test(words)) return 'upstream_unavailable';
  return REFUSED.test(words) ? 'upstream_rejected' : 'upstream_error';
}
