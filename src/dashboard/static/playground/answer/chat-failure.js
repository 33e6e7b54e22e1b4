/**
 * @typedef {object} ChatFailureFacts
 * @property {number} [status] of HTTP
 * @property {string} [code] the service's own
 * @property {{ field: string, message: string }[]} [details] what is wrong with the request
 * @property {number} [retryAfterSeconds]
 * @property {string} [requestId]
 * @property {unknown} [cause]
 */

/**
 * Why there is no whole answer. `unreachable`: nothing came back. `refused`: the service said no before any text.
 * `broken`: the answer had begun, or should have.
 *
 * @typedef {'unreachable' | 'refused' | 'broken'} ChatFailureKind
 */

export class ChatFailure extends Error {
  /**
   * @param {ChatFailureKind} kind
   * @param {string} message
   * @param {ChatFailureFacts} [facts]
   */
  constructor(kind, message, facts = {}) {
    super(message, { cause: facts.cause });
    this.name = 'ChatFailure';
    this.kind = kind;
    this.facts = facts;
  }
}

/**
 * @param {Response} response one that is no success.
 * @returns {Promise<ChatFailure>}
 */
export async function refusalOf(response) {
  const { status, headers } = response;
  const seconds = Number(headers.get('retry-after') ?? NaN);
  const retryAfterSeconds = Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
  const requestId = headers.get('x-request-id') ?? undefined;
  const body = await response.json().catch(() => undefined);
  const { code, message, details } = body?.error ?? {};
  return new ChatFailure('refused', message ?? `The service answered with status ${status}.`, {
    status,
    code,
    details: details ?? [],
    retryAfterSeconds,
    requestId,
  });
}
