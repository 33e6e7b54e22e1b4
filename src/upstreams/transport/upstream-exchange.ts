import type { Dispatcher } from 'undici';
import { ServiceError } from '../../common/service-error.js';
import type { AnswerHeaders, UpstreamRequest } from '../contract/protocol.js';
import type { Connection } from './connection-pool.js';
import { failureOfConnection, unexpectedFailure } from './connection-failure.js';

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
  readonly headers: AnswerHeaders;
}

/** Returns a header of an answer. Returns the first value when the provider sent several. */
export function headerOf({ headers }: Pick<ResponseHead, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value[0] : value;
}

/** Is already resolved. Its callbacks run as soon as the present callback of undici has returned. */
const SOON = Promise.resolve();

/**
 * One request to a provider and its answer. It uses the callbacks of undici, without a stream object between the socket and
 * the reader. {@link take} returns all data since the last read at once. So the work for each byte decreases when the load
 * increases.
 */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  /** Status and headers of the answer, as soon as they have arrived. */
  head: ResponseHead | undefined;
  /** Why there are no more bytes before the end of the body. */
  failure: Error | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private ended = false;
  /** True when the rest of the body is discarded; see {@link finish}. */
  private discarding = false;
  private discardedBytes = 0;
  private interimAnswers = 0;
  private isLost = false;
  private isNotifying = false;

  /**
   * @param onChange called when there is a head, new bytes, the end or a failure: once for all bytes of one read from the
   * socket.
   */
  constructor(
    private readonly connection: Connection,
    request: UpstreamRequest,
    private onChange: () => void,
  ) {
    const { body } = request;
    if (typeof body === 'string') this.dispatch(request, body);
    else void this.dispatchLater(request, body);
  }

  /** True when the connection failed before any answer, and the provider may have closed it before the request was sent. */
  get wasSentTooLate(): boolean {
    return this.isLost && this.connection.reused && this.head === undefined;
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
      if (this.failure !== undefined) throw this.failure;
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

  /** Ends the exchange. Closes the connection if the answer is not complete. The next read fails with `reason`. */
  close(reason: Error): void {
    if (this.ended || this.failure !== undefined) return;
    this.failure = reason;
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
      this.close(new ServiceError('upstream_error', 'The provider did not end the body.'));
    }, graceMs);
    grace.unref();
    this.onChange = () => {
      if (this.ended || this.failure !== undefined) clearTimeout(grace);
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure !== undefined) controller.abort(this.failure);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
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
    if (this.failure === undefined) {
      this.isLost = LOST_CONNECTION.has((error as { readonly code?: string }).code ?? '');
      this.failure = failureOfConnection(error);
    }
    // The request was not begun, for example because it is invalid.
    if (this.controller === undefined) this.connection.release();
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
      this.failure ??= unexpectedFailure(error);
      this.changed();
    }
  }

  /** Calls `onChange` once for everything that undici passes on in one go. */
  private changed(): void {
    if (this.isNotifying) return;
    this.isNotifying = true;
    void SOON.then(() => {
      this.isNotifying = false;
      this.onChange();
    });
  }
}

function tooMuch(what: string): ServiceError {
  return new ServiceError('upstream_error', `The provider sent too many ${what}.`);
}
