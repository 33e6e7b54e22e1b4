import { ChatError } from './chat-error.js';
import { ChatStream, type Position, type StreamOptions } from './chat-stream.js';
import type { ChatRequest, CompleteAnswer, Model, Receipt } from './chat-types.js';
import { delay } from './delay.js';
import { refusalOf } from './response-facts.js';

/**
 * Where the service is, and how a client authenticates.
 *
 * @since 1.0
 */
export interface ChatClientOptions {
  /** The address of the service, such as `https://chat.example.com/api/v1`. `/api/v1` is added to an address without a path. */
  readonly baseUrl: string;
  /** Without a key, the session cookie authenticates the requests of the service's own pages. */
  readonly apiKey?: string | undefined;
  /** Sends the requests. By default the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Additional headers of each request. A header that the call itself sets, such as `Last-Event-ID`, takes precedence. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A client for the HTTP API of the service.
 *
 * @since 1.0
 */
export class ChatClient {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Readonly<Record<string, string>>;

  /** @throws {TypeError} if the address or a header is invalid. */
  constructor({ baseUrl, apiKey, fetch: send, headers }: ChatClientOptions) {
    const url = new URL(baseUrl, (globalThis as { location?: { href: string } }).location?.href);
    this.#base = url.origin + (url.pathname === '/' ? '/api/v1' : url.pathname.replace(/\/$/, ''));
    this.#fetch = send ?? ((...request) => fetch(...request));
    const checked = new Headers(headers);
    if (apiKey !== undefined) checked.set('authorization', `Bearer ${apiKey}`);
    this.#headers = Object.fromEntries(checked.entries());
  }

  /** Requests an answer. The request is sent when the loop over the stream begins. */
  stream(request: ChatRequest, options: StreamOptions = {}): ChatStream {
    const { idempotencyKey } = options;
    const headers = {
      'content-type': 'application/json',
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    };
    return this.#open(options, {}, { method: 'POST', headers, body: JSON.stringify(request) });
  }

  /**
   * Requests an answer and waits for all of it.
   *
   * @throws {ChatError} if there is no complete answer.
   */
  async complete(request: ChatRequest, options?: StreamOptions): Promise<CompleteAnswer> {
    const stream = this.stream(request, options);
    let text = '';
    for await (const piece of stream) text += piece;
    return { complete: true, text, requestId: stream.requestId, rateLimits: stream.rateLimits };
  }

  /** Continues a durable stream, from its beginning or from after `lastEventId`. */
  resume(
    position: Position & { readonly streamId: string },
    options: Omit<StreamOptions, 'idempotencyKey'> = {},
  ): ChatStream {
    return this.#open(options, position);
  }

  /**
   * Ends a durable stream. Otherwise the service generates on for a while although no client reads.
   *
   * @throws {ChatError} if the service refuses the request or cannot be reached.
   */
  async cancel(streamId: string): Promise<void> {
    // A browser sends the request although its page is closed at once.
    await this.#send(pathOf(streamId), { method: 'DELETE', keepalive: true });
  }

  /**
   * Fetches the models that the caller may use.
   *
   * @throws {ChatError} if the service refuses the request or cannot be reached.
   */
  async models(options: { readonly signal?: AbortSignal } = {}): Promise<Model[]> {
    const response = await this.#send('/chat/models', options);
    return ((await response.json()) as { models: Model[] }).models;
  }

  /**
   * Fetches the receipt of a stream. Waits for it for up to 3 seconds, as it is written within a second of the end.
   *
   * @throws {ChatError} if there is no receipt after this time, or the service cannot be reached.
   */
  async receipt(requestId: string, options: { readonly signal?: AbortSignal } = {}): Promise<Receipt> {
    for (let waits = 0; ; waits++) {
      try {
        const response = await this.#send(`/usage/streams/${encodeURIComponent(requestId)}`, options);
        return (await response.json()) as Receipt;
      } catch (error) {
        if (waits === 10 || !(error instanceof ChatError) || error.status !== 404) throw error;
        await delay(300, options.signal);
      }
    }
  }

  #open(options: StreamOptions, start: Position, init: RequestInit = {}): ChatStream {
    return new ChatStream(
      ({ streamId, lastEventId }, signal) => {
        if (streamId === undefined) return this.#send('/chat/stream', { ...init, signal });
        const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
        return this.#send(pathOf(streamId), { headers, signal });
      },
      options,
      start,
    );
  }

  /** @throws {ChatError} unless the response has a status of success. */
  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(init.headers as Record<string, string>) };
    const response = await this.#fetch(this.#base + path, { ...init, headers }).catch((cause: unknown) => {
      init.signal?.throwIfAborted();
      throw new ChatError(`No response from ${this.#base}.`, { kind: 'unreachable', cause });
    });
    if (!response.ok) throw await refusalOf(response);
    return response;
  }
}

const pathOf = (streamId: string): string => `/chat/streams/${encodeURIComponent(streamId)}`;
