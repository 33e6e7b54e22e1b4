import { ChatError } from './chat-error.js';
import type { RateLimits } from './chat-types.js';
import { ConnectionEvents, type ConnectionEvent } from './connection-events.js';
import { onNetwork, delay } from './delay.js';
import { objectIn, responseFacts } from './response-facts.js';

/**
 * The state of a stream. `text` is the whole answer. `partialText` is what has arrived of an incomplete answer.
 *
 * @since 1.0
 */
export type StreamState =
  | { readonly status: 'waiting' | 'streaming' }
  | { readonly status: 'complete'; readonly text: string }
  | { readonly status: 'failed'; readonly partialText: string; readonly error: ChatError }
  /** The signal was aborted, or the loop over the stream was left early. */
  | { readonly status: 'stopped'; readonly partialText: string };

/**
 * How a client reads a stream, and when a stream stops.
 *
 * @since 1.0
 */
export interface StreamOptions {
  /** Stops the stream. The loop over the stream then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes the stream durable: the service keeps the answer, and the client reconnects and continues if the connection breaks.
   * From 1 to 255 visible ASCII characters, such as `crypto.randomUUID()`.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * How often in a row a durable stream reconnects without new text. The default is 5. With `Infinity`, the stream reconnects for
   * as long as the service keeps the answer.
   */
  readonly maxReconnects?: number | undefined;
  /** Called when a durable stream loses its connection, connects again, and continues. */
  readonly onConnection?: ((event: ConnectionEvent) => void) | undefined;
  /** The silence after which the connection counts as broken. The default is 60,000. The service sends something each 15 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** The time until the first response must begin. The default is `idleTimeoutMs`. The service begins a response within 30 s. */
  readonly headTimeoutMs?: number | undefined;
}

/** What a new connection needs to continue a stream. */
export interface Position {
  readonly streamId?: string | undefined;
  readonly lastEventId?: string | undefined;
}

/** The statuses of a service that is busy or restarts. */
const BUSY = [429, 502, 503, 504];
const FIRST_PAUSE_S = 0.25;
const MAX_PAUSE_S = 10;
/** How long a request without a response is sent again. Later, the service may no longer have its key, and a repetition would cost. */
const MAX_REPETITION_MS = 240_000;

export type Connect = (position: Position, signal: AbortSignal) => Promise<Response>;

/** Reads an event of a response. Throws a {@link ChatError} if the event says that the answer has failed. */
export type ReadEvent = (event: string, data: string) => { readonly content: string; readonly done: boolean };

/**
 * The pieces of the text of an answer, to read once in a loop. The loop ends normally only if the answer is complete. Otherwise
 * the loop throws a {@link ChatError}.
 *
 * @since 1.0
 */
export class ChatStream implements AsyncIterable<string> {
  state: StreamState = { status: 'waiting' };
  /** `undefined` until a response has arrived. The same applies to the members below. */
  requestId: string | undefined;
  rateLimits: RateLimits | undefined;
  /** `ChatClient.resume` continues a durable stream from here. Other streams have no id. */
  streamId: string | undefined;
  lastEventId: string | undefined;
  #text = '';
  #failures = 0;
  #lastTextAt: number | undefined;
  /** Whether a response has arrived. */
  #hasStarted = false;
  readonly #createdAt = Date.now();
  readonly #connect: Connect;
  readonly #options: StreamOptions;
  readonly #events: ConnectionEvents;
  readonly #read: ReadEvent;

  constructor(connect: Connect, options: StreamOptions, start: Position, read: ReadEvent = chunkOf) {
    this.#connect = connect;
    this.#options = options;
    this.#read = read;
    this.#events = new ConnectionEvents(options.onConnection);
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
    const { signal, idleTimeoutMs = 60_000, headTimeoutMs = idleTimeoutMs } = this.#options;
    const controller = new AbortController();
    const stop = () => {
      controller.abort();
    };
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop);
    // The browser may keep a dead connection for minutes.
    const stopListening = onNetwork('offline', () => {
      if (this.#isKept) stop();
    });
    let timer = setTimeout(stop, this.streamId === undefined ? headTimeoutMs : idleTimeoutMs);
    try {
      this.#events.connecting();
      const response = await this.#connect(this, controller.signal);
      const reader = this.#bodyOf(response).getReader();
      this.#events.connected();
      clearTimeout(timer);
      timer = setTimeout(stop, idleTimeoutMs);
      const decoder = new TextDecoder();
      const parse = eventParser();
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(timer);
        if (done) throw new ChatError('The connection ended before the answer was complete.', { kind: 'cut' });
        for (const { event, data, id } of parse(decoder.decode(value, { stream: true }))) {
          const chunk = this.#read(event, data);
          this.lastEventId = id || this.lastEventId;
          this.#text += chunk.content;
          if (chunk.content !== '') {
            this.#lastTextAt = Date.now();
            yield chunk.content;
          }
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
      stopListening();
      signal?.removeEventListener('abort', stop);
      stop();
    }
  }

  #bodyOf(response: Response): ReadableStream<Uint8Array> {
    const { requestId, rateLimits } = responseFacts(response);
    const { headers, body } = response;
    this.#hasStarted = true;
    this.requestId ??= requestId;
    this.rateLimits = rateLimits;
    this.streamId ??= headers.get('x-stream-id') ?? undefined;
    if (body !== null && headers.get('content-type')?.startsWith('text/event-stream')) return body;
    throw new ChatError('The response is not a chat stream. A proxy may have replaced it.', { kind: 'invalid' });
  }

  /** Whether a new connection can continue the stream, or send the same request again, without a second request to a provider. */
  get #isKept(): boolean {
    return this.streamId !== undefined || (!this.#hasStarted && this.#options.idempotencyKey !== undefined);
  }

  /** Waits until the next attempt. Throws the error if no attempt may follow. */
  async #pauseAfter(error: ChatError): Promise<void> {
    const { signal, maxReconnects = 5 } = this.#options;
    const { kind, status, retryAfterSeconds } = error;
    const isRefused = kind === 'refused';
    const mayContinue = isRefused
      ? BUSY.includes(status) && this.streamId !== undefined
      : (kind === 'cut' || kind === 'unreachable') && this.#isKept;
    const isTooLate = this.streamId === undefined && Date.now() - this.#createdAt > MAX_REPETITION_MS;
    if (!mayContinue || isTooLate || this.#failures >= maxReconnects) throw error;
    this.#events.lost(error, this.#lastTextAt);
    const seconds = Math.max(
      jittered(FIRST_PAUSE_S * 2 ** this.#failures++),
      Math.min(MAX_PAUSE_S, retryAfterSeconds ?? 0),
    );
    // A service that is busy is not less busy when the network changes.
    await delay(seconds * 1000, signal, !isRefused);
  }
}

/** A pause of 50 to 100 % of the maximum, so that the clients of a service that restarts do not all return at once. */
function jittered(seconds: number): number {
  return Math.min(MAX_PAUSE_S, seconds) * (0.5 + Math.random() / 2);
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

interface ServerSentEvent {
  /** The event name. Empty if the stream has no name for the event. */
  readonly event: string;
  readonly data: string;
  /** The last id that the stream has sent so far. Empty if there was none. */
  readonly id: string;
}

/** Returns a function that takes the text of an event stream, in pieces of any size, and returns the events that are complete. */
export function eventParser(): (text: string) => ServerSentEvent[] {
  let line = '';
  let endsWithCr = false;
  let event = '';
  let id = '';
  let data: string[] = [];
  return (text) => {
    if (text === '') return [];
    const [first = '', ...others] = (endsWithCr && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
    endsWithCr = text.endsWith('\r');
    const events: ServerSentEvent[] = [];
    line += first;
    for (const next of others) {
      // The name of a comment is empty.
      const [name = ''] = line.split(':', 1);
      const value = line.slice(name.length + 1).replace(/^ /, '');
      if (name === 'data') data.push(value);
      else if (name === 'event') event = value;
      else if (name === 'id' && !value.includes('\0')) id = value;
      else if (line === '') {
        if (data.length > 0) events.push({ event, data: data.join('\n'), id });
        event = '';
        data = [];
      }
      line = next;
    }
    return events;
  };
}
