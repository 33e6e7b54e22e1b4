import {
  providerFailure,
  type FailureKind,
  type FailureScope,
  type ProviderFailure,
  type ProviderFailureCode,
} from '../../contract/provider-failure.js';
import { isText, type JsonObject, parseJsonObject } from './json-object.js';
import { reportIn, shownCause, shownLabels, type ProviderReport } from './provider-report.js';
import type { ResponseHeaders } from '../../contract/protocol.js';

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
 * `loggedLabel`: see the test of the recorded answer `xai/error-as-text`. No label reaches the log through this pattern.
 */
const LABEL = /^[\w .:-]{1,64}$/;

/**
 * The account or the configuration of the service is invalid. OpenAI reports some of these failures as
 * `invalid_request_error`, but a caller cannot fix them.
 */
const OUR_FAULT = /api_?key|auth|permission|billing|deactivated|not_?found/;
/** The provider refuses the key or the account. */
const REFUSED_KEY = /api_?key|auth|permission|billing|deactivated|insufficient_balance|payment/;
/** The failure is about the account or the key of the service, so all models of the upstream have it. */
const OF_THE_KEY =
  /api_?key|auth|billing|deactivated|insufficient_(?:quota|balance)|quota_?exceeded|payment|organization/;
const LIMITED = /rate_?limit|too_?many|quota|exhausted|slow_?down/;
const OVERLOADED = /overload|unavailable|capacity/;
const REFUSED =
  /invalid.?(?:request|argument|prompt)|bad_?request|validation|context|too_(?:large|long)|content|policy|moderation/;
/** What providers write about a prompt that is longer than the context of the model. */
const TOO_LONG =
  /context[ _](?:length|size|window)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens|token count.{0,40} exceeds/i;
/** What providers write about the account of the service, under the status or the type of an invalid request. */
const ACCOUNT_IN_WORDS = /credit balance|billing details|api key (?:not valid|expired)|(?:invalid|incorrect) api key/i;
const UNKNOWN_MODEL = /\bmodel\b.{1,200}\b(?:not found|not exist)\b/i;
/** The sentence is at the beginning of a message. */
const MAX_READ_LENGTH = 1_000;

/**
 * Converts a failure that a provider sends in an event of the stream.
 *
 * @param error the error value of the event: usually an object with `message`, `type` and `code`, sometimes only a text.
 * @param envelope the object that has `error` as a member. Some providers put the code into this object.
 */
export function reportedFailure(error: unknown, envelope: JsonObject = {}): ProviderFailure {
  const report = reportIn(error, envelope);
  const code = isOfAccount(report) ? 'upstream_error' : codeOf(report.labels);
  const reason = shownLabels(report.labels) || 'The provider gave no reason.';
  return failureOf(code, reason, report, { kind: kindOf(report) });
}

interface ReportedOptions {
  readonly kind: FailureKind;
  /** The HTTP status. */
  readonly status?: number;
  readonly scope?: FailureScope;
  readonly retryAfterSeconds?: number | undefined;
}

/** Creates the failure of a report: its cause for the log, and its message for the caller. */
export function failureOf(
  code: ProviderFailureCode,
  reason: string,
  report: ProviderReport,
  { kind, status, scope, retryAfterSeconds }: ReportedOptions,
): ProviderFailure {
  return providerFailure(code, reason, {
    scope: scope ?? scopeOf(report),
    isPromptTooLong: isPromptTooLong(report.message) || isPromptTooLong(report.code),
    failureCause: { kind, status, ...shownCause(report) },
    // What a provider says about a key or about its own name of a model is for the operator only.
    providerMessage: isOfConfiguration(report) ? undefined : report.message,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Returns whether a text of a provider says that a prompt is too long. */
export function isPromptTooLong(text: unknown): boolean {
  return isText(text) && TOO_LONG.test(text.slice(0, MAX_READ_LENGTH));
}

/** Whether the provider refuses the key or the account of the service, although it calls that an invalid request. */
function isOfAccount({ labels, message }: ProviderReport): boolean {
  const words = wordsOf(labels);
  return (REFUSED_KEY.test(words) && !LIMITED.test(words)) || saysAccount(message);
}

function isOfConfiguration(report: ProviderReport): boolean {
  const isUnknownModel = UNKNOWN_MODEL.test(report.message?.slice(0, MAX_READ_LENGTH) ?? '');
  return isUnknownModel || OUR_FAULT.test(wordsOf(report.labels)) || isOfAccount(report);
}

/** Returns the error code for an HTTP status of a provider. */
function codeOfStatus(status: number): ProviderFailureCode {
  return CODE_BY_STATUS.get(status) ?? 'upstream_error';
}

/** Returns the kind of a failure with this HTTP status. */
function kindOfStatus(status: number): FailureKind {
  if (status === 429) return 'rate_limited';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 500) return 'server';
  if (status === 401 || status === 402 || status === 403 || status === 407) return 'unauthorized';
  return status >= 400 ? 'rejected' : 'protocol';
}

/** Returns what a failure with these labels concerns. */
function scopeOf({ labels, message }: ProviderReport): FailureScope {
  return OF_THE_KEY.test(wordsOf(labels)) || saysAccount(message) ? 'upstream' : 'route';
}

function saysAccount(message: string | undefined): boolean {
  return message !== undefined && ACCOUNT_IN_WORDS.test(message.slice(0, MAX_READ_LENGTH));
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
  if (LIMITED.test(words) || OVERLOADED.test(words)) return 'upstream_unavailable';
  return REFUSED.test(words) ? 'upstream_rejected' : 'upstream_error';
}

function kindOf(report: ProviderReport): FailureKind {
  if (isOfAccount(report)) return 'unauthorized';
  const status = report.labels.map(Number).find((label) => label >= 400 && label < 600);
  if (status !== undefined) return kindOfStatus(status);
  const words = wordsOf(report.labels);
  if (LIMITED.test(words)) return 'rate_limited';
  if (OVERLOADED.test(words)) return 'server';
  return REFUSED.test(words) || OUR_FAULT.test(words) ? 'rejected' : 'server';
}

/** The maximum value that the service sends to a client, in seconds. It limits the value of the provider. */
const MAX_SECONDS = 3_600;
/** The maximum length of a date, in characters. The longest HTTP date has the full name of the day and 33 characters. */
const MAX_LENGTH = 40;
/** The three forms of a date in HTTP (RFC 9110, section 5.6.7) begin with the name of a day. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

/**
 * Converts the `Retry-After` header of a provider to whole seconds from now, at most 3,600 (one hour). Returns `undefined`
 * for a value that is neither a whole number of seconds nor an HTTP date in the future.
 *
 * @param now milliseconds since 1970.
 */
export function retryAfterSeconds(sent: string | undefined, now: number): number | undefined {
  const text = sent?.trim();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  if (text.length > MAX_LENGTH || !DATE.test(text)) return undefined;
  // The oldest form contains no time zone and means GMT.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return at > now ? Math.min(Math.ceil((at - now) / 1000), MAX_SECONDS) : undefined;
}

const OK = 200;
const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
const PAYMENT_REQUIRED = 402;
const FORBIDDEN = 403;

/** The brackets around the error, if Google answers with a list of events. */
const LIST = /^\s*\[([\s\S]*)\]\s*$/;
/** A body that is a page, or JSON that is invalid or cut, and not a message. */
const NO_MESSAGE = /^\s*(?:[<{[]|$)/;

/**
 * Converts a response that is not a stream to the error for the caller. The code follows from the status, and from the error
 * in the body if the status is 200 or the provider calls a refused key an invalid request.
 *
 * @param body the beginning of the body.
 */
export function httpFailure(status: number, headers: ResponseHeaders, body: string): ProviderFailure {
  const text = unquoted(body);
  const envelope = parseJsonObject(LIST.exec(text)?.[1] ?? text);
  if (status === OK) {
    if (envelope === undefined) return providerFailure('upstream_error', 'The response is not a stream.');
    return reportedFailure(envelope.error ?? envelope, envelope);
  }
  const report = reportOfBody(envelope, text);
  const isRefusedKey = status === BAD_REQUEST && isOfAccount(report);
  const code = isRefusedKey ? 'upstream_error' : codeOfStatus(status);
  return failureOf(code, `HTTP ${status} ${shownLabels(report.labels)}`.trimEnd(), report, {
    kind: isRefusedKey ? 'unauthorized' : kindOfResponse(status, envelope),
    status,
    ...((status === UNAUTHORIZED || status === PAYMENT_REQUIRED) && { scope: 'upstream' }),
    ...(code === 'upstream_unavailable' && {
      retryAfterSeconds: retryAfterSeconds(first(headers['retry-after']), Date.now()),
    }),
  });
}

/** Returns the body without the byte order mark, and the text of a body that is a text of JSON, as of gateways that encode an error twice. */
function unquoted(body: string): string {
  const text = body.replace(/^\ufeff/, '');
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function reportOfBody(envelope: JsonObject | undefined, text: string): ProviderReport {
  if (envelope !== undefined) return reportIn(envelope.error ?? envelope, envelope);
  return NO_MESSAGE.test(text) ? { labels: [] } : reportIn(text);
}

/** A gateway with a moderation of its own refuses a prompt with the status 403, and gives the reasons. */
function kindOfResponse(status: number, envelope: JsonObject = {}): FailureKind {
  const { metadata } = (envelope.error ?? {}) as JsonObject;
  const isModerated = status === FORBIDDEN && Array.isArray((metadata as JsonObject | undefined)?.reasons);
  return isModerated ? 'rejected' : kindOfStatus(status);
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
