import { ServiceError, type ServiceErrorOptions } from '../../common/service-error.js';
import { isJsonObject, isText, type JsonObject } from './json-object.js';
import { knownLabel } from './known-labels.js';

export type VendorFailureCode = 'upstream_error' | 'upstream_unavailable' | 'upstream_rejected' | 'upstream_timeout';

/** For the caller. Ours, never the vendor's: its text can hold account names and keys. */
const MESSAGES: Readonly<Record<VendorFailureCode, string>> = {
  upstream_error: 'The vendor failed.',
  upstream_timeout: 'The vendor gave no answer in time.',
  upstream_unavailable: 'The vendor is overloaded or limits our requests.',
  upstream_rejected:
    'The vendor refused the request: it may be too long for the model, or against the content policy of the vendor.',
};

/** Statuses, also as numbers in an error that came too late for a status. Every other one is `upstream_error`. */
const CODE_BY_STATUS: ReadonlyMap<number, VendorFailureCode> = new Map([
  [400, 'upstream_rejected'],
  [408, 'upstream_timeout'],
  [413, 'upstream_rejected'],
  [422, 'upstream_rejected'],
  [429, 'upstream_unavailable'],
  [503, 'upstream_unavailable'],
  [504, 'upstream_timeout'],
  [529, 'upstream_unavailable'],
]);

/** What is short and plain enough to class a failure by, and no sentence of a conversation. */
const LABEL = /^[\w .:-]{1,64}$/;

/** Our account or configuration is wrong. OpenAI calls that an `invalid_request_error` too, but no caller can mend it. */
const OUR_FAULT = /api_?key|auth|permission|billing|deactivated|not_?found/;
const OVERLOADED = /rate_?limit|too_?many|overload|unavailable|capacity|quota|exhausted|slow_?down/;
const REFUSED =
  /invalid.?(?:request|argument|prompt)|bad_?request|validation|context|too_(?:large|long)|content|policy|moderation/;

/** @param reason For the log: in our words, or the vendor's labels. */
export function vendorFailure(
  code: VendorFailureCode,
  reason: string,
  options: ServiceErrorOptions = {},
): ServiceError {
  return new ServiceError(code, MESSAGES[code], { ...options, cause: new Error(reason) });
}

/**
 * The failure that a vendor tells in place of a piece of the answer.
 *
 * @param error What stands where the vendor puts its errors: mostly an object with `message`, `type` and `code`, now and
 * then only a text.
 * @param envelope The object that `error` is a member of: some vendors put the code there.
 */
export function reportedFailure(error: unknown, envelope: JsonObject = {}): ServiceError {
  const labels = labelsOf(error, envelope);
  return vendorFailure(codeOf(labels), shownLabels(labels) || 'The vendor gave no reason.');
}

/**
 * The words and numbers by which a vendor classes its failure. Not its `message`, which can repeat the prompt or name a
 * key. A label can do so, too: what is logged of it is {@link shownLabels}.
 */
export function labelsOf(error: unknown, envelope: JsonObject = {}): readonly (string | number)[] {
  const report = isJsonObject(error) ? error : envelope;
  const metadata = isJsonObject(report.metadata) ? report.metadata : {};
  return [report.type, report.code, report.status, report.error_type, metadata.error_type].filter(isLabel);
}

/** The labels that are known, and `other` in place of the rest. */
export function shownLabels(labels: readonly (string | number)[]): string {
  return [...new Set(labels.map(knownLabel))].join(' ');
}

function isLabel(value: unknown): value is string | number {
  return typeof value === 'number' || isText(value);
}

/** What a vendor's status means for the caller. */
export function codeOfStatus(status: number): VendorFailureCode {
  return CODE_BY_STATUS.get(status) ?? 'upstream_error';
}

function codeOf(labels: readonly (string | number)[]): VendorFailureCode {
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
