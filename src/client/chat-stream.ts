import { ChatError } from './chat-error.js';
import type { RateLimits } from './chat-types.js';
import { eventParser } from './event-parser.js';
import { delay } from './delay.js';
import { objectIn, responseFacts } from './response-facts.js';

/** `text` is the whole answer. `partialText` is what has arrived of an incomplete answer. */
export type StreamState =
  | { readonly status: 'waiting' | 'streaming' }
  | { readonly status: 'complete'; readonly text: string }
  | { readonly status: 'failed'; readonly partialText: string; readonly error: ChatError }
  /** The signal was aborted, or the loop over the stream was left early. */
  | { readonly status: 'stopped'; readonly partialText: string };

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes the stream durable: the service keeps the answer, and the client reconnects and continues if the connection breaks.
   * From 1 to 255 visible ASCII characters, such as `crypto.randomUUID()`.
   */
  readonly idempotencyKey?: string | undefined;
  /** How often in a row a durable stream reconnects without new text. The default is 5. */
  readonly maxReconnects?: number | undefined;
  /** The silence after which the connection counts as broken. The default is 60,000. The service sends something each 15 s. */
  readonly idleTimeoutMs?: number | undefined;
}

/** What a new connection needs to continue a stream. */
export interface Position {
  readonly streamId?: string | undefined;
  readonly lastEventId?: string | undefined;
}

/** The statuses of a service that is busy or restarts. */
const BUSY = [429, 502, 503, 504];

export type Connect = (position: Position, signal: AbortSignal) => Promise<Response>;

/** The loop over a stream ends normally only if the answer is complete. Otherwise the loop throws a `ChatError`. */
export class ChatStream implements AsyncIterable<string> {
  state: StreamState = { status: 'waiting' };
  requestId: string | undefined;
  rateLimits: RateLimits | undefined;
  // `ChatClient.resume` continues a durable stream from here.
  streamId: string | undefined;
  lastEventId: string | undefined;
  #text = '';
  #failures = 0;
  /** Whether a response has arrived. */
  #hasBegun = false;
  readonly #connect: Connect;
  readonly #options: StreamOptions;

  constructor(connect: Connect, options: StreamOptions, start: Position) {
    this.#connect = connect;
    this.#options = options;
    Object.assign(this, start);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    if (this.state.status !== 'waiting') throw new TypeError('A stream can be read only once.');
    this.state = { status: 'streaming' };
    try {
      while (!(yield* this.#connection()));
      this.state = { status: 'complete', text: this.#text };
    } catch (error) {
      if (error instanceof ChatError) {
        const { requestId = this.requestId, rateLimits = this.rateLimits } = error;
        Object.assign(this, { requestId, rateLimits });
        Object.assign(error, { requestId, rateLimits, partialText: this.#text });
        this.state = { status: 'failed', partialText: this.#text, error };
      }
      throw error;
    } finally {
      if (this.state.status === 'streaming') this.state = { status: 'stopped', partialText: this.#text };
    }
  }

  /** Yields the text of one connection. Returns whether the answer is complete, and throws if no other connection may follow. */
  async *#connection(): AsyncGenerator<string, boolean, undefined> {
    const { signal, idleTimeoutMs = 60_000 } = this.#options;
    const controller = new AbortController();
    const stop = () => {
      controller.abort();
    };
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop);
    let timer = setTimeout(stop, idleTimeoutMs);
    try {
      const response = await this.#connect(this, controller.signal);
      const reader = this.#bodyOf(response).getReader();
      const decoder = new TextDecoder();
      const parse = eventParser();
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(timer);
        if (done) throw new ChatError('The connection ended before the answer was complete.', { kind: 'cut' });
        for (const { event, data, id } of parse(decoder.decode(value, { stream: true }))) {
          const chunk = chunkOf(event, data);
          this.lastEventId = id || this.lastEventId;
          this.#text += chunk.content;
          if (chunk.content !== '') yield chunk.content;
          if (chunk.done) return true;
          this.#failures = 0;
          signal?.throwIfAborted();
        }
        timer = setTimeout(stop, idleTimeoutMs);
      }
    } catch (cause) {
      signal?.throwIfAborted();
      const message = 'The connection broke before the answer was complete.';
      await this.#pauseAfter(cause instanceof ChatError ? cause : new ChatError(message, { kind: 'cut', cause }));
      return false;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      stop();
    }
  }

  #bodyOf(response: Response): ReadableStream<Uint8Array> {
    const { requestId, rateLimits } = responseFacts(response);
    const { headers, body } = response;
    this.#hasBegun = true;
    this.requestId ??= requestId;
    this.rateLimits = rateLimits;
    this.streamId ??= headers.get('x-stream-id') ?? undefined;
    if (body !== null && headers.get('content-type')?.startsWith('text/event-stream')) return body;
    throw new ChatError('The response is not a chat stream. A proxy may have replaced it.', { kind: 'invalid' });
  }

  /** Throws the error, unless a new connection can continue the stream without a second request to a provider. */
  async #pauseAfter(error: ChatError): Promise<void> {
    const { signal, idempotencyKey, maxReconnects = 5 } = this.#options;
    const { kind, status, retryAfterSeconds = 2 ** this.#failures / 4 } = error;
    const mayContinue =
      kind === 'refused'
        ? BUSY.includes(status) && this.streamId
        : (kind === 'cut' || kind === 'unreachable') && (this.streamId ?? (!this.#hasBegun && idempotencyKey));
    if (!mayContinue || this.#failures++ >= maxReconnects) throw error;
    await delay(Math.min(10, retryAfterSeconds) * 1000, signal);
  }
}

function chunkOf(event: string, json: string): { readonly content: string; readonly done: boolean } {
  const { content, done, error } = objectIn(json);
  if (typeof content !== 'string' || typeof done !== 'boolean') {
    throw new ChatError('The service sent an invalid part of an answer.', { kind: 'invalid' });
  }
  if (event === '' && error === undefined) return { content, done };
  const { code, message = 'The answer failed.' } = { ...(error as { code?: string; message?: string } | undefined) };
  throw new ChatError(message, { kind: 'failed', code });
}
