import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Connection } from './connection-pool.js';
import type { UpstreamRequest } from './protocol.js';

/** Bytes of an answer that may wait here for a slow reader; past it the vendor is held back through TCP. */
const HIGH_WATER_BYTES = 64 * 1024;

/** What undici and Node call a connection that the other side has closed. */
const LOST_CONNECTION = new Set(['UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'ECONNRESET', 'EPIPE']);

export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * One request to a vendor and its answer, on undici's callbacks: no stream object lies between the socket and the reader.
 * All that came since the last read is handed over at once, so the work per byte falls as the load rises.
 */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private head: ResponseHead | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private ended = false;
  /** Nobody reads any more, see {@link finish}. */
  private discarding = false;
  private failure: { readonly error: unknown } | undefined;
  /** Wakes whoever waits for the head or for bytes. */
  private wake: (() => void) | undefined;

  constructor(
    private readonly connection: Connection,
    request: UpstreamRequest,
  ) {
    connection.client.dispatch(
      {
        origin: request.url.origin,
        path: request.url.pathname + request.url.search,
        method: 'POST',
        headers: request.headers,
        body: request.body,
      },
      this,
    );
  }

  /** The connection broke before any answer, and may have been closed by the vendor before the request was sent. */
  get wasSentTooLate(): boolean {
    const code = (this.failure?.error as { readonly code?: string } | undefined)?.code ?? '';
    return this.connection.reused && this.head === undefined && LOST_CONNECTION.has(code);
  }

  /** Waits for status and headers. Rejects when the connection fails, or with what {@link close} was given. */
  async response(): Promise<ResponseHead> {
    while (this.head === undefined) {
      if (this.failure !== undefined) throw this.failure.error;
      await this.change();
    }
    return this.head;
  }

  /**
   * What has come since the last call; `undefined` where nothing has, or at the end of the body (see {@link isOver}).
   * Throws once there is nothing left to take of a body that broke off.
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

  /** The body has ended, and all of it has been taken. */
  get isOver(): boolean {
    return this.ended && this.waiting.length === 0;
  }

  /** Resolves when there is something new: bytes, the end or a failure. For one caller at a time. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /** Ends the exchange: the connection is cut if the answer is not whole, and whoever waits is told `reason`. */
  close(reason: Error): void {
    if (this.ended || this.failure !== undefined) return;
    this.failure = { error: reason };
    this.waiting = [];
    this.controller?.abort(reason);
    this.changed();
  }

  /**
   * Reads no further, as the answer is whole, but gives the vendor `graceMs` to end the body, so that the connection can
   * serve the next request.
   */
  finish(graceMs: number): void {
    if (this.ended || this.failure !== undefined) return;
    this.discarding = true;
    this.waiting = [];
    if (this.controller?.paused) this.controller.resume();
    const grace = setTimeout(() => {
      this.close(new Error('The vendor did not end the body.'));
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

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.head = { status, headers };
    this.changed();
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.discarding) return;
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes > HIGH_WATER_BYTES) controller.pause();
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

  private changed(): void {
    this.wake?.();
    this.wake = undefined;
  }
}
