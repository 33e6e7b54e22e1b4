import type { Dispatcher } from 'undici';
import { ServiceError } from '../../common/service-error.js';
import type { Connection } from './connection-pool.js';
import type { UpstreamRequest } from '../contract/protocol.js';

/** The number of bytes that may wait for a slow reader. Above this number, TCP flow control slows the provider down. */
const HIGH_WATER_BYTES = 64 * 1024;

/** The maximum number of pieces of an answer that may wait. A provider can send each byte as one piece. */
const MAX_WAITING_PIECES = 1_024;
/** The maximum number of interim answers (1xx) before the answer. */
const MAX_INTERIM_ANSWERS = 16;

/** The error codes of undici and Node for a connection that the other side has closed. */
const LOST_CONNECTION = new Set(['UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'ECONNRESET', 'EPIPE']);

export interface ResponseHead {
  readonly status: number;
  /** The names are in lower case. A provider can send each header more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Returns a header of an answer. Returns the first value when the provider sent several. */
export function headerOf({ headers }: ResponseHead, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * One request to a provider and its answer. It uses the callbacks of undici, without a stream object between the socket and
 * the reader. {@link take} returns all data since the last read at once. So the work for each byte decreases when the load
 * increases.
 */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private head: ResponseHead | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private ended = false;
  /** True when the rest of the body is discarded; see {@link finish}. */
  private discarding = false;
  private discardedBytes = 0;
  private interimAnswers = 0;
  private failure: { readonly error: unknown } | undefined;
  /** Wakes the caller that waits for the head or for bytes. */
  private wake: (() => void) | undefined;

  constructor(
    private readonly connection: Connection,
    request: UpstreamRequest,
  ) {
    const { body } = request;
    if (typeof body === 'string') this.dispatch(request, body);
    else void this.dispatchLater(request, body);
  }

  /** True when the connection failed before any answer, and the provider may have closed it before the request was sent. */
  get wasSentTooLate(): boolean {
    const code = (this.failure?.error as { readonly code?: string } | undefined)?.code ?? '';
    return this.connection.reused && this.head === undefined && LOST_CONNECTION.has(code);
  }

  /** Waits for status and headers. Rejects when the connection fails, or with the reason passed to {@link close}. */
  async response(): Promise<ResponseHead> {
    while (this.head === undefined) {
      if (this.failure !== undefined) throw this.failure.error;
      await this.change();
    }
    return this.head;
  }

  /**
   * Returns the bytes since the last call. Returns `undefined` when there are none, and at the end of the body (see
   * {@link isOver}).
   *
   * @throws the failure of a body that ended too early, after all its bytes are taken.
   */
  take(): Buffer | undefined {
    const [first] = this.waiting;
    if (first === undefined) {
      if (this.failure !== undefined) throw this.failure.error;
      return undefined;
    }
    const bytes = this.waiting.length === 1 ? first : Buffer.concat(this.waiting, this.waitingBytes);
    this.waiting = [];
    this.waitingBytes = 0;
    if (this.controller?.paused) this.controller.resume();
    return bytes;
  }

  /** True when the body has ended and all bytes are taken. */
  get isOver(): boolean {
    return this.ended && this.waiting.length === 0;
  }

  /** Resolves when there are new bytes, the end or a failure. Only one caller may wait at a time. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /**
   * Ends the exchange. Closes the connection if the answer is not complete. A waiting caller gets `reason` as the failure.
   */
  close(reason: Error): void {
    if (this.ended || this.failure !== undefined) return;
    this.failure = { error: reason };
    this.waiting = [];
    // A request that is not sent yet cannot be aborted: its connection is still being opened.
    this.connection.spare();
    this.controller?.abort(reason);
    this.changed();
  }

  /**
   * Stops reading, because the answer is complete. The provider has `graceMs` and a limited number of bytes to end the
   * body, so that the connection can serve the next request.
   */
  finish(graceMs: number): void {
    if (this.ended || this.failure !== undefined) return;
    this.discarding = true;
    this.waiting = [];
    this.connection.spare();
    if (this.controller?.paused) this.controller.resume();
    const grace = setTimeout(() => {
      this.close(new Error('The provider did not end the body.'));
    }, graceMs);
    grace.unref();
    this.wake = () => {
      if (this.ended || this.failure !== undefined) clearTimeout(grace);
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure !== undefined) controller.abort(this.failure.error as Error);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHead['headers']): void {
    if (status < 200) {
      this.interimAnswers += 1;
      if (this.interimAnswers > MAX_INTERIM_ANSWERS) this.close(tooMuch('interim answers'));
      return;
    }
    this.head = { status, headers };
    this.changed();
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.discarding) {
      this.discardedBytes += bytes.length;
      if (this.discardedBytes > HIGH_WATER_BYTES) this.close(tooMuch('bytes after the answer'));
      return;
    }
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes > HIGH_WATER_BYTES || this.waiting.length >= MAX_WAITING_PIECES) controller.pause();
    this.changed();
  }

  onResponseEnd(): void {
    this.ended = true;
    this.connection.release();
    this.changed();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.failure ??= { error };
    this.changed();
  }

  private dispatch({ url, headers }: UpstreamRequest, body: string | Uint8Array): void {
    const path = url.pathname + url.search;
    this.connection.client.dispatch({ origin: url.origin, path, method: 'POST', headers, body }, this);
  }

  /** Sends nothing if the exchange is closed while the body is created. */
  private async dispatchLater(request: UpstreamRequest, body: Promise<Uint8Array>): Promise<void> {
    try {
      const bytes = await body;
      if (this.failure === undefined) this.dispatch(request, bytes);
      else this.connection.release();
    } catch (error) {
      this.connection.release();
      this.failure ??= { error };
      this.changed();
    }
  }

  private changed(): void {
    this.wake?.();
    this.wake = undefined;
  }
}

function tooMuch(what: string): ServiceError {
  return new ServiceError('upstream_error', `The provider sent too many ${what}.`);
}
