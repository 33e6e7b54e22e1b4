import { ChatError } from '../../client.js';
import { timeText } from '../../client/time-text.js';

/**
 * The text that the page shows for a failure, and the actions that the user can take.
 *
 * @typedef {object} Advice
 * @property {string} title
 * @property {string} text
 * @property {string[]} lines the invalid fields of the request, one line for each field
 * @property {boolean} canRetry whether the same request can succeed later
 * @property {string} retryLabel
 * @property {number | undefined} waitSeconds the time to wait before a retry, in seconds
 * @property {{ text: string, href: string } | undefined} link
 * @property {number | undefined} [maxTokens] the same request with this limit can succeed
 * @property {string | undefined} requestId the request id to send to the operator of the service
 */

const FIELD_NAMES = new Map([
  ['model', 'Model'],
  ['temperature', 'Temperature'],
  ['max_tokens', 'Max tokens'],
]);
const SIGN_IN = { text: 'Sign in again (new tab)', href: '/sign-in' };
const RELOAD = { text: 'Open the playground for this account (new tab)', href: '/playground' };
const USAGE = { text: 'View remaining limits (new tab)', href: '/usage' };

/**
 * @param {KeptFailure} failure
 * @param {boolean} canContinue whether the service may still have the rest of the answer
 * @returns {Advice}
 */
export function adviceOn(failure, canContinue) {
  const { message, details, retryAt, requestId } = failure;
  const lines = details.map(({ field, message: what }) => `${fieldName(field)} ${what}`);
  const leftSeconds = retryAt === undefined ? 0 : Math.ceil((retryAt - Date.now()) / 1000);
  const waitSeconds = leftSeconds > 0 ? leftSeconds : undefined;
  const common = {
    text: message,
    lines,
    canRetry: true,
    retryLabel: 'Try again',
    waitSeconds,
    link: undefined,
    requestId,
  };
  const next = canContinue
    ? 'Try again to get the rest.'
    : 'Try again to get a new answer, which is charged separately.';
  switch (failure.kind) {
    case 'unreachable':
      return { ...common, title: 'No connection', text: `${message} Check your connection and try again.` };
    case 'cut':
    case 'failed':
    case 'invalid':
      return { ...common, title: 'The answer is incomplete', text: `${message} ${next}` };
    case 'refused':
      return { ...common, ...adviceOnRefusal(failure.code, failure.status ?? 0, message, retryAt !== undefined) };
  }
}

/**
 * @param {string | undefined} code
 * @param {number} status
 * @param {string} message
 * @param {boolean} canRetryLater whether the service has said when the same request can succeed
 * @returns {Partial<Advice> & Pick<Advice, 'title'>}
 */
function adviceOnRefusal(code, status, message, canRetryLater) {
  switch (code) {
    case 'rate_limit_exceeded':
      return { title: 'Too many requests per minute', link: USAGE };
    case 'concurrency_limit_exceeded':
      return { title: 'Too many concurrent streams', text: `${message} Wait until another stream ends.`, link: USAGE };
    case 'quota_exceeded':
      return { title: 'Daily token limit reached', link: USAGE };
    case 'budget_exceeded': {
      const [, most] = /\bSet max_tokens to at most (\d+)/.exec(message) ?? [];
      const maxTokens = most === undefined ? undefined : Number(most);
      return { title: 'Budget exceeded', link: USAGE, canRetry: canRetryLater, maxTokens };
    }
    case 'model_not_priced':
      return { title: 'Model has no price', text: `${message} Choose another model above.`, canRetry: false };
    case 'account_mismatch':
      return { title: 'You are signed in to another account', text: `${message} Nothing was sent.`, link: RELOAD };
    case 'upstream_rejected':
      return { title: 'The model rejected this request', text: `${message} Change the request.`, canRetry: false };
    case 'not_found':
      return {
        title: 'The rest of the answer is no longer available',
        text: 'The connection was lost for longer than the service keeps an answer. A new answer is charged separately.',
        retryLabel: 'Get a new answer',
      };
    case 'model_not_found':
      return { title: 'Model no longer available', text: 'Choose another model above, then try again.' };
    default:
      return adviceOnStatus(status, message);
  }
}

/**
 * @param {number} status
 * @param {string} message
 * @returns {Partial<Advice> & Pick<Advice, 'title'>}
 */
function adviceOnStatus(status, message) {
  switch (status) {
    case 401:
      return { title: 'You are signed out', text: 'Sign in in a new tab, then retry.', link: SIGN_IN };
    case 413:
      return {
        title: 'The conversation is too long',
        text: `${message} Clear or shorten the conversation.`,
        canRetry: false,
      };
    case 429:
      return { title: 'Too many requests' };
    case 502:
      return { title: 'The model failed', text: `${message} Try again or choose another model.` };
    case 503:
      return { title: 'Temporarily unavailable', text: `${message} Try again or choose another model.` };
    case 504:
      return { title: 'The model took too long', text: `${message} Try again or choose another model.` };
    default:
      if (status < 500) return { title: 'The request is invalid', text: message, canRetry: false };
      return { title: 'The service failed', text: `${message} Try again.` };
  }
}

/** @param {string} field a path such as `messages.1.content` */
function fieldName(field) {
  const match = /^messages\.(\d+)/.exec(field);
  return match === null ? (FIELD_NAMES.get(field) ?? field) : `Message ${Number(match[1]) + 1}`;
}

/**
 * A failure as session storage keeps it, so that a reload shows it again.
 *
 * @typedef {object} KeptFailure
 * @property {ChatError['kind']} kind
 * @property {string} message
 * @property {number | undefined} status
 * @property {string | undefined} code
 * @property {readonly import('../../client.js').ErrorDetail[]} details
 * @property {string | undefined} requestId
 * @property {number | undefined} retryAt in milliseconds since 1970
 */

/**
 * @param {unknown} error
 * @returns {KeptFailure}
 */
export function keptFailure(error) {
  const failure =
    error instanceof ChatError ? error : new ChatError('This page had an error.', { kind: 'invalid', cause: error });
  const { kind, message, status, code, details = [], requestId, retryAfterSeconds } = failure;
  const retryAt = retryAfterSeconds === undefined ? undefined : Date.now() + retryAfterSeconds * 1000;
  return { kind, message, status, code, details, requestId, retryAt };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * A sentence that says when the user can try again: the remaining time, and the moment in the user's time zone.
 *
 * @param {number} leftMs
 * @param {Date} until
 * @param {Date} now
 */
export function waitText(leftMs, until, now) {
  const isToday = until.toDateString() === now.toDateString();
  return `You can try again in ${duration(leftMs)}, at ${timeText(until, isToday ? 'time' : 'minute')}.`;
}

/** @param {number} ms */
function duration(ms) {
  if (ms < 2 * MINUTE_MS) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.ceil(ms / MINUTE_MS)} minutes`;
  return `${Math.ceil(ms / HOUR_MS)} hours`;
}
