/**
 * @typedef {object} ChatFailureFacts
 * @property {number} [status] the HTTP status
 * @property {string} [code] the error code of the service
 * @property {{ field: string, message: string }[]} [details] the invalid fields of the request
 * @property {number} [retryAfterSeconds]
 * @property {string} [requestId]
 * @property {unknown} [cause]
 */

/**
 * Why there is no complete answer. `unreachable`: no response arrived. `refused`: the response was an HTTP error, before any
 * text. `broken`: the answer began and failed, or the response was not an answer.
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
 * Reads the failure from an error response.
 *
 * @param {Response} response a response with an error status.
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
