import { ChatFailure, refusalOf } from './chat-failure.js';
import { EventParser } from './event-parser.js';

/**
 * @typedef {object} ChatMessage
 * @property {'system' | 'user' | 'assistant'} role
 * @property {string} content
 */

/**
 * The body of `POST /api/v1/chat/stream`.
 *
 * @typedef {object} ChatRequest
 * @property {string} model
 * @property {ChatMessage[]} messages
 * @property {number} [temperature]
 * @property {number} [max_tokens]
 */

export const STREAM_PATH = '/api/v1/chat/stream';

/**
 * Requests an answer through the public API, and yields its text as it arrives. The generator returns only after the service
 * reports that the answer is complete.
 *
 * @param {ChatRequest} request
 * @param {AbortSignal} signal stops the answer. The generator then throws any error: check `signal.aborted` first.
 * @param {typeof fetch} send
 * @returns {AsyncGenerator<string, void, undefined>}
 * @throws {ChatFailure} for all other failures.
 */
export async function* streamAnswer(request, signal, send = fetch) {
  const response = await post(request, signal, send);
  if (!response.ok) throw await refusalOf(response);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || !type.startsWith('text/event-stream')) {
    throw new ChatFailure('broken', 'The answer did not come from the service. A proxy may have replaced it.', {
      requestId,
    });
  }
  yield* readAnswer(response.body, requestId);
}

/**
 * @param {ChatRequest} request
 * @param {AbortSignal} signal
 * @param {typeof fetch} send
 */
async function post(request, signal, send) {
  try {
    return await send(STREAM_PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      cache: 'no-store',
      signal,
    });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ChatFailure('unreachable', 'The service is unreachable.', { cause });
  }
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {string | undefined} requestId
 */
async function* readAnswer(body, requestId) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const event of parser.feed(decoder.decode(value, { stream: true }))) {
        const chunk = chunkOf(event, requestId);
        if (chunk.content !== '') yield chunk.content;
        if (chunk.done) return;
      }
    }
  } catch (cause) {
    if (cause instanceof ChatFailure) throw cause;
    throw new ChatFailure('broken', 'The connection broke.', { requestId, cause });
  } finally {
    // Cancels the rest of the response, for example if the caller stops reading early.
    reader.cancel().catch(() => undefined);
  }
  throw new ChatFailure('broken', 'The connection ended before the answer was complete.', { requestId });
}

/**
 * @param {import('./event-parser.js').ServerSentEvent} event
 * @param {string | undefined} requestId
 * @returns {{ content: string, done: boolean }}
 */
function chunkOf({ event, data }, requestId) {
  const chunk = parsed(data);
  if (event === 'error' || chunk?.error !== undefined) {
    const { code, message } = chunk?.error ?? {};
    throw new ChatFailure('broken', message ?? 'The service failed without giving a reason.', { code, requestId });
  }
  if (typeof chunk?.content !== 'string' || typeof chunk.done !== 'boolean') {
    throw new ChatFailure('broken', 'The service sent an invalid part of an answer.', { requestId });
  }
  return chunk;
}

/** @param {string} json */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
