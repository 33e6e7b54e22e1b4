import type { ResponseHeaders } from '../../contract/protocol.js';
import { providerFailure, type FailureKind, type ProviderFailure } from '../../contract/provider-failure.js';
import { parseJsonObject, type JsonObject } from './json-object.js';
import { reportIn, shownLabels, type ProviderReport } from './provider-report.js';
import { codeOfStatus, failureOf, isOfAccount, kindOfStatus, reportedFailure } from './reported-failure.js';

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
    kind: isRefusedKey ? 'unauthorized' : kindOf(status, envelope),
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
function kindOf(status: number, envelope: JsonObject = {}): FailureKind {
  const { metadata } = (envelope.error ?? {}) as JsonObject;
  const isModerated = status === FORBIDDEN && Array.isArray((metadata as JsonObject | undefined)?.reasons);
  return isModerated ? 'rejected' : kindOfStatus(status);
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
