import { ChatError } from '../../client.js';
import { ChatStream } from '../../client/chat-stream.js';
import { objectIn, refusalOf } from '../../client/response-facts.js';

/**
 * Requests with images or tools, which `POST /chat/stream` does not take. The shapes are those of OpenAI's Chat Completions.
 *
 * @typedef {object} FunctionCall
 * @property {string} id
 * @property {'function'} type
 * @property {{ name: string, arguments: string }} function
 * @property {object} [extra_content] what some models want back with the call
 *
 * @typedef {{ readonly type: 'text', readonly text: string }
 *   | { readonly type: 'image_url', readonly image_url: { readonly url: string } }} ContentPart
 *
 * @typedef {{ readonly role: 'system' | 'user', readonly content: string | readonly ContentPart[] }
 *   | { readonly role: 'assistant', readonly content: string | null, readonly tool_calls?: readonly FunctionCall[] }
 *   | { readonly role: 'tool', readonly tool_call_id: string, readonly content: string }} CompletionMessage
 *
 * @typedef {object} CompletionRequest
 * @property {string} model
 * @property {readonly CompletionMessage[]} messages
 * @property {number} [temperature]
 * @property {number} [max_tokens]
 * @property {readonly object[]} [tools]
 * @property {true} stream
 *
 * @typedef {import('../../client.js').ChatRequest | CompletionRequest} AnyRequest
 */

const PATH = '/api/v1/playground/completions';

/**
 * @param {object | undefined} request
 * @returns {request is CompletionRequest}
 */
export function isCompletionRequest(request) {
  return request !== undefined && 'stream' in request;
}

/**
 * @typedef {object} CompletionOptions
 * @property {string} accountId
 * @property {number} keptMs how long the service keeps an answer after its end
 * @property {(calls: FunctionCall[]) => void} whenCalled called with all calls so far, each with its arguments so far
 */

/**
 * Opens the stream of a turn whose request has images or tools. Each further connection sends the same request with the same key, gets
 * the same answer from its beginning, and leaves out the text that the turn has already.
 *
 * @param {import('../conversation.js').Turn} turn
 * @param {CompletionRequest} request
 * @param {CompletionOptions} options
 * @param {import('../../client.js').StreamOptions} streamOptions
 */
export function completionStream(turn, request, { accountId, keptMs, whenCalled }, streamOptions) {
  const body = JSON.stringify(request);
  const headers = {
    'content-type': 'application/json',
    'x-account-id': accountId,
    'idempotency-key': turn.idempotencyKey ?? crypto.randomUUID(),
  };
  let known = 0;
  /** @type {FunctionCall[]} */
  let calls = [];

  /** @type {import('../../client/chat-stream.js').Connect} */
  const connect = async ({ streamId }, signal) => {
    // Later, the service would answer the request once more, and charge it.
    if (streamId !== undefined && Date.now() - (turn.lastTextAt ?? turn.askedAt) > keptMs) throw gone();
    known = turn.answer.length;
    calls = [];
    const response = await fetch(PATH, { method: 'POST', headers, body, signal }).catch((cause) => {
      signal.throwIfAborted();
      throw new ChatError(`No response from ${location.origin}.`, { kind: 'unreachable', cause });
    });
    if (!response.ok) throw await refusalOf(response);
    return response;
  };

  /** @type {import('../../client/chat-stream.js').ReadEvent} */
  const read = (_event, data) => {
    if (data === '[DONE]') return { content: '', done: true };
    const { choices, error } = /** @type {StreamedEvent} */ (objectIn(data));
    if (error !== undefined)
      throw new ChatError(error.message ?? 'The answer failed.', { kind: 'failed', code: error.code });
    const { content, tool_calls: changed = [] } = choices?.[0]?.delta ?? {};
    for (const change of changed) addTo(calls, change);
    if (changed.length > 0) whenCalled(calls);
    const text = content ?? '';
    const fresh = text.slice(known);
    known = Math.max(0, known - text.length);
    return { content: fresh, done: false };
  };
  return new ChatStream(connect, streamOptions, {}, read);
}

/**
 * @typedef {{ readonly index: number, readonly id?: string, readonly function?: { readonly name?: string, readonly arguments?: string },
 *   readonly extra_content?: object }} CallChange
 *
 * @typedef {object} StreamedEvent
 * @property {readonly { readonly delta?: { readonly content?: string | null, readonly tool_calls?: readonly CallChange[] } }[]} [choices]
 * @property {{ readonly message?: string, readonly code?: string }} [error]
 */

/**
 * @param {FunctionCall[]} calls
 * @param {CallChange} change
 */
function addTo(calls, { index, id = '', function: { name = '', arguments: json = '' } = {}, extra_content: extra }) {
  const call = (calls[index] ??= {
    id,
    type: 'function',
    function: { name, arguments: '' },
    ...(extra && { extra_content: extra }),
  });
  call.function.arguments += json;
}

function gone() {
  const message = 'The service no longer has the rest of the answer.';
  return new ChatError(message, { kind: 'refused', status: 404, code: 'not_found' });
}
