import { ServiceError } from '../../common/service-error.js';
import { isJsonObject, isText, type JsonObject } from './json-object.js';

export type VendorFailureCode = 'upstream_error' | 'upstream_unavailable' | 'upstream_rejected';

/** For the caller. Ours, never the vendor's: its text can hold account names and keys. */
const MESSAGES: Readonly<Record<VendorFailureCode, string>> = {
  upstream_error: 'The vendor failed.',
  upstream_unavailable: 'The vendor is overloaded or limits our requests.',
  upstream_rejected:
    'The vendor refused the request: it may be too long for the model, or against the content policy of the vendor.',
};

const MAX_CAUSE_LENGTH = 500;

/** Numbers that vendors put in place of the status that they can no longer send. */
const CODE_BY_STATUS: ReadonlyMap<number, VendorFailureCode> = new Map([
  [400, 'upstream_rejected'],
  [413, 'upstream_rejected'],
  [422, 'upstream_rejected'],
  [429, 'upstream_unavailable'],
  [503, 'upstream_unavailable'],
  [529, 'upstream_unavailable'],
]);

/** Our account or configuration is wrong. OpenAI calls that an `invalid_request_error` too, but no caller can mend it. */
const OUR_FAULT = /api_?key|auth|permission|billing|deactivated|not_?found/;
const OVERLOADED = /rate_?limit|too_?many|overload|unavailable|capacity|quota|exhausted|slow_?down/;
const REFUSED =
  /invalid.?(request|argument|prompt)|bad_?request|validation|context|too_(large|long)|content|policy|moderation/;

/** `detail` is the vendor's own text: for the log only, and cut. */
export function vendorFailure(code: VendorFailureCode, detail: string): ServiceError {
  return new ServiceError(code, MESSAGES[code], { cause: new Error(detail.slice(0, MAX_CAUSE_LENGTH)) });
}

/**
 * The failure that a vendor tells in place of a piece of the answer.
 *
 * @param error What stands where the vendor puts its errors: mostly an object with `message`, `type` and `code`, now and
 * then only a text.
 * @param envelope The object that `error` is a member of: some vendors put the code there.
 */
export function reportedFailure(error: unknown, envelope: JsonObject = {}): ServiceError {
  const report = isJsonObject(error) ? error : { ...envelope, message: error };
  const metadata = isJsonObject(report.metadata) ? report.metadata : {};
  const labels = [report.type, report.code, report.status, report.error_type, metadata.error_type].filter(isLabel);
  const words = labels.join(' ');
  const detail = [words, report.message].filter(isText).join(': ');
  return vendorFailure(codeOf(labels, words.toLowerCase()), detail === '' ? 'The vendor gave no reason.' : detail);
}

function isLabel(value: unknown): value is string | number {
  return typeof value === 'number' || isText(value);
}

function codeOf(labels: readonly (string | number)[], words: string): VendorFailureCode {
  if (OUR_FAULT.test(words)) return 'upstream_error';
  for (const label of labels) {
    const code = CODE_BY_STATUS.get(Number(label));
    if (code !== undefined) return code;
  }
  if (OVERLOADED.test(words)) return 'upstream_unavailable';
  return REFUSED.test(words) ? 'upstream_rejected' : 'upstream_error';
}
