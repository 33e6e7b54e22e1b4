import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Dialect } from './dialects.js';

/**
 * One request that reached a scripted provider, with the methods by which a script answers it.
 *
 * @since 1.0
 */
export class ProviderCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The time at which the service closed the request before the answer was complete (`performance.now()`). */
  abortedAt: number | undefined;
  /** Resolves when the request is over, with or without a complete answer. */
  readonly over: Promise<void>;
  /** The number of bytes of the answer written so far. */
  bytesWritten = 0;
  private toolCalls = 0;

  /** @param connection the number of the connection at the provider. Two calls with equal numbers share a connection. */
  constructor(
    request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly dialect: Dialect,
    readonly connection: number,
    readonly body: string,
  ) {
    this.method = request.method ?? '';
    this.path = request.url ?? '';
    this.headers = request.headers;
    this.over = new Promise((resolve) => {
      response.on('close', () => {
        if (!response.writableEnded) this.abortedAt = performance.now();
        resolve();
      });
    });
  }

  /**
   * The body as an object.
   *
   * @throws {SyntaxError} if the body is not JSON.
   */
  get json(): Record<string, unknown> {
    return JSON.parse(this.body) as Record<string, unknown>;
  }

  /** Sends the status and headers immediately. */
  head(status = 200, headers: OutgoingHttpHeaders = {}): this {
    this.response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
    this.response.flushHeaders();
    return this;
  }

  /** Sends the interim response `100 Continue`. {@link head} must come later. */
  continue(): this {
    this.response.writeContinue();
    return this;
  }

  /** Sends bytes as they are. {@link head} must come first. */
  write(bytes: string | Uint8Array): this {
    this.bytesWritten += Buffer.byteLength(bytes);
    if (!this.response.destroyed) this.response.write(bytes);
    return this;
  }

  /** Sends a piece of the text of the answer. */
  text(text: string): this {
    return this.write(this.dialect.text(text));
  }

  /** Sends a piece of the reasoning. */
  reasoning(text: string): this {
    return this.write(this.dialect.reasoning(text));
  }

  /**
   * Sends a whole tool call.
   *
   * @param json the arguments as JSON text. By default none.
   * @throws {Error} if the dialect has no tool calls.
   */
  toolCall(name: string, json = '{}', id = `call_${this.toolCalls}`): this {
    const { protocol, toolCall } = this.dialect;
    if (toolCall === undefined) throw new Error(`The dialect ${protocol} has no tool calls.`);
    const index = this.toolCalls;
    this.toolCalls += 1;
    return this.write(toolCall({ index, id, name, json }));
  }

  /** Sends the finish reason. */
  finish(reason = 'stop'): this {
    return this.write(this.dialect.finish(reason));
  }

  /** Sends a failure in the stream. The response has already begun with a status of success. */
  failure(type: string, message = 'The provider has its reasons.'): this {
    return this.write(this.dialect.failure(type, message));
  }

  /** Sends the last event of the stream, such as `[DONE]`. */
  endMarker(): this {
    return this.write(this.dialect.endMarker);
  }

  /** Ends the body properly. */
  end(): void {
    this.response.end();
  }

  /** Sends a complete answer with one piece for each text. */
  answer(...texts: string[]): void {
    this.head();
    for (const text of texts) this.text(text);
    this.finish().endMarker().end();
  }

  /** Answers with JSON: for a request before the stream, such as one for a token or for a job. */
  reply(json: object, status = 200): void {
    this.head(status, { 'content-type': 'application/json' }).write(JSON.stringify(json)).end();
  }

  /** Sends an HTTP error instead of a stream. */
  refuse(status: number, headers: OutgoingHttpHeaders = {}, body = '{"error":{"message":"sk-provider-secret"}}'): void {
    this.head(status, { 'content-type': 'application/json', ...headers })
      .write(body)
      .end();
  }

  /** Sends bytes that are not valid HTTP, and ends the connection. */
  garbage(bytes: string): void {
    this.response.socket?.end(bytes);
  }

  /** Resolves when the socket accepts more bytes, or is closed. */
  async drained(): Promise<void> {
    if (this.response.destroyed) return this.over;
    if (!this.response.writableNeedDrain) return;
    await Promise.race([once(this.response, 'drain'), this.over]);
  }

  /** Breaks off the answer: by a reset, or by a FIN before the promised end of the body. */
  async cut(how: 'reset' | 'fin' = 'reset'): Promise<void> {
    const { socket } = this.response;
    if (socket === null || socket.destroyed) return;
    if (how === 'reset') socket.resetAndDestroy();
    else socket.end();
    await this.over;
  }
}
