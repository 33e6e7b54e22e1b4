import type { Dispatcher } from 'undici';
import { ServiceError } from '../common/service-error.js';
import type { Connection } from './connection-pool.js';
import type { UpstreamRequest } from './protocol.js';

/** Bytes of an answer that may wait here for a slow reader; past it the vendor is held back through TCP. */
const HIGH_WATER_BYTES = 64 * 1024;

/** Pieces of an answer that may wait: a vendor can send a byte in each. */
const MAX_WAITING_PIECES = 1_024;
/** Interim answers (1xx) before the answer itself. */
const MAX_INTERIM_ANSWERS = 16;

/** What undici and Node call a connection that the other side has closed. */
const LOST_CONNECTION = new Set(['UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'ECONNRESET', 'EPIPE']);

export interface ResponseHead {
  readonly status: number;
  /** By their names in lower case. A vendor can send any of them more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A header of an answer; the first where the vendor sent several. */
export function headerOf({ headers }: ResponseHead, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
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
  private discardedBytes = 0;
  private interimAnswers = 0;
  private failure: { readonly error: unknown } | undefined;
  /** Wakes whoever waits for the head or for bytes. */
  private wake: (() => void) | undefined;

  constructor(
    private readonly connection: Connection,
    request: UpstreamRequest,
  ) {
    const { body } = request;
    if (typeof body === 'string') this.dispatch(request, body);
    else void this.dispatchLater(request, body);
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
    // A request that was not sent yet cannot be aborted: its connection is still being opened.
    this.connection.spare();
    this.controller?.abort(reason);
    this.changed();
  }

  /**
   * Reads no further, as the answer is whole, but gives the vendor `graceMs`, and a bounded number of bytes, to end the
   * body, so that the connection can serve the next request.
   */
  finish(graceMs: number): void {
    if (this.ended || this.failure !== undefined) return;
    this.discarding = true;
    this.waiting = [];
    this.connection.spare();
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

  /** Sends nothing if the exchange is closed while the body is made. */
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
  return new ServiceError('upstream_error', `The vendor sent too many ${what}.`);
}
