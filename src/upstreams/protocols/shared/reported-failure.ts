import {
  providerFailure,
  type FailureScope,
  type ProviderFailure,
  type ProviderFailureCode,
} from '../../contract/provider-failure.js';
import { isJsonObject, isText, type JsonObject } from './json-object.js';

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

/**
 * The labels whose words decide the error code. xAI classifies with a short sentence, so the pattern allows more than the pattern of
 * {@link loggedLabel}: see the test of the recorded answer `xai/error-as-text`. No label reaches the log through this pattern.
 */
const LABEL = /^[\w .:-]{1,64}$/;

/**
 * The account or the configuration of the service is invalid. OpenAI reports some of these failures as
 * `invalid_request_error`, but a caller cannot fix them.
 */
const OUR_FAULT = /api_?key|auth|permission|billing|deactivated|not_?found/;
/** The failure is about the account or the key of the service, so all models of the upstream have it. */
const OF_THE_KEY =
  /api_?key|auth|billing|deactivated|insufficient_(?:quota|balance)|quota_?exceeded|payment|organization/;
const OVERLOADED = /rate_?limit|too_?many|overload|unavailable|capacity|quota|exhausted|slow_?down/;
const REFUSED =
  /invalid.?(?:request|argument|prompt)|bad_?request|validation|context|too_(?:large|long)|content|policy|moderation/;
/** What providers write about a prompt that is longer than the context of the model. */
const TOO_LONG =
  /context[ _](?:length|size|window)|maximum context|prompt is too long|too many (?:input )?tokens|token count.{0,40} exceeds/i;
/** The sentence is at the beginning of a message. */
const MAX_READ_LENGTH = 1_000;

/**
 * Converts a failure that a provider sends in an event of the stream.
 *
 * @param error the error value of the event: usually an object with `message`, `type` and `code`, sometimes only a text.
 * @param envelope the object that has `error` as a member. Some providers put the code into this object.
 */
export function reportedFailure(error: unknown, envelope: JsonObject = {}): ProviderFailure {
  const labels = labelsOf(error, envelope);
  const reason = shownLabels(labels) || 'The provider gave no reason.';
  return providerFailure(codeOf(labels), reason, {
    scope: scopeOf(labels),
    isPromptTooLong: isPromptTooLong(error, envelope),
  });
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

/** Returns whether a provider says that a prompt is too long. */
export function isPromptTooLong(error: unknown, envelope: JsonObject = {}): boolean {
  const { message, code } = isJsonObject(error) ? error : envelope;
  return [error, message, code].some((text) => isText(text) && TOO_LONG.test(text.slice(0, MAX_READ_LENGTH)));
}

/** Returns the labels for a log line, with `other` in place of each label that can be a text. */
export function shownLabels(labels: readonly (string | number)[]): string {
  return [...new Set(labels.map(loggedLabel))].join(' ');
}

function isLabel(value: unknown): value is string | number {
  return typeof value === 'number' || isText(value);
}

/** Returns the error code for an HTTP status of a provider. */
export function codeOfStatus(status: number): ProviderFailureCode {
  return CODE_BY_STATUS.get(status) ?? 'upstream_error';
}

/** Returns what a failure with these labels concerns. */
export function scopeOf(labels: readonly (string | number)[]): FailureScope {
  return OF_THE_KEY.test(wordsOf(labels)) ? 'upstream' : 'route';
}

function wordsOf(labels: readonly (string | number)[]): string {
  return labels
    .map(String)
    .filter((label) => LABEL.test(label))
    .join(' ')
    .toLowerCase();
}

function codeOf(labels: readonly (string | number)[]): ProviderFailureCode {
  const words = wordsOf(labels);
  if (OUR_FAULT.test(words)) return 'upstream_error';
  for (const label of labels) {
    const code = CODE_BY_STATUS.get(Number(label));
    if (code !== undefined) return code;
  }
  if (OVERLOADED.test(words)) return 'upstream_unavailable';
  return REFUSED.test(words) ? 'upstream_rejected' : 'upstream_error';
}

/** The shape of a label such as `rate_limit_exceeded`. A sentence of a conversation or a key does not have this shape. */
const IDENTIFIER = /^[A-Z][A-Z_.-]{0,63}$/i;
/** The shape of an HTTP status or of an error code. */
const SHORT_NUMBER = /^\d{1,5}$/;

/** Returns the label of a provider for a log line: an identifier, a short number, or `other`. */
export function loggedLabel(label: string | number): string {
  const text = String(label);
  return IDENTIFIER.test(text) || SHORT_NUMBER.test(text) ? text : 'other';
}
