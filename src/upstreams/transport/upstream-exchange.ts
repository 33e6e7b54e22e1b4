import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Steps } from '../../platform/common/event-loop/event-loop-turns.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { elapsedMs, startTimer } from '../../platform/common/timers/pace.js';
import type { ResponseHeaders, UpstreamRequest } from '../contract/protocol.js';
import type { Connection } from './connection-pool.js';
import { failureOfConnection } from './connection-failure.js';
import type { EncodedRequest } from './encoded-request.js';

/** The number of bytes that may wait for a slow reader. Above this number, the connection is paused. */
export const HIGH_WATER_BYTES = 64 * 1024;
/** The maximum number of pieces of an answer that may wait. A provider can send each byte as one piece. */
const MAX_WAITING_PIECES = 1_024;

type Controller = Pick<Dispatcher.DispatchController, 'paused' | 'pause' | 'resume'>;

/**
 * Applies backpressure: keeps the bytes of an answer until the reader takes them, and pauses the connection while too many
 * bytes wait. TCP flow control then slows the provider down.
 */
export class WaitingBytes {
  private pieces: Buffer[] = [];
  private length = 0;

  get isEmpty(): boolean {
    return this.pieces.length === 0;
  }

  add(piece: Buffer, controller: Controller): void {
    this.pieces.push(piece);
    this.length += piece.length;
    if (this.length > HIGH_WATER_BYTES || this.pieces.length >= MAX_WAITING_PIECES) controller.pause();
  }

  /** Returns all bytes that wait, and lets the connection continue. Returns `undefined` when none wait. */
  take(controller: Controller | undefined): Buffer | undefined {
    const [first] = this.pieces;
    if (first === undefined) return undefined;
    const bytes = this.pieces.length === 1 ? first : Buffer.concat(this.pieces, this.length);
    this.drop(controller);
    return bytes;
  }

  /** Drops all bytes that wait, and lets the connection continue. */
  drop(controller: Controller | undefined): void {
    this.pieces = [];
    this.length = 0;
    if (controller?.paused === true) controller.resume();
  }
}

/** A longer body is released as soon as it is sent. In UTF-16 units. */
const LONG_BODY = 64 * 1024;

/**
 * A provider that closes a kept connection while the request is on its way answers within a round trip. Later, the provider may have
 * worked on the request, and a second one would cost twice.
 */
const SENT_TOO_LATE_MS = 1_000;

/** The maximum number of interim responses (1xx) before the response. */
const MAX_INTERIM_RESPONSES = 16;

/** The error codes of undici and Node for a connection that the other side has closed. */
const LOST_CONNECTION = new Set(['UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'ECONNRESET', 'EPIPE']);

export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** Returns a header of a response. Returns the first value when the provider sent several. */
export function headerOf({ headers }: Pick<ResponseHead, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value[0] : value;
}

/** Is already resolved. Its callbacks run as soon as the present callback of undici has returned. */
const SOON = Promise.resolve();

/**
 * One request to a provider and its response. It uses the callbacks of undici, without a stream object between the socket and
 * the reader. {@link take} returns all data since the last read at once. So the work for each byte decreases when the load
 * increases.
 */
export class UpstreamExchange implements Dispatcher.DispatchHandler {
  /** Status and headers of the response, as soon as they have arrived. */
  head: ResponseHead | undefined;
  /** Why there are no more bytes before the end of the body. */
  failure: Error | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private readonly waiting = new WaitingBytes();
  private ended = false;
  /** True when the rest of the body is discarded; see {@link finish}. */
  private discarding = false;
  private discardedBytes = 0;
  private interimResponses = 0;
  private isLost = false;
  private readonly sentAt = elapsedMs();
  private isNotifying = false;

  /**
   * @param onChange called when there is a head, new bytes, the end or a failure: once for all bytes of one read from the
   * socket.
   */
  constructor(
    private readonly connection: Connection,
    request: EncodedRequest,
    private onChange: () => void,
  ) {
    const { method = 'POST', url } = request;
    const path = url.pathname + url.search;
    connection.client.dispatch({ origin: url.origin, path, method, ...sendable(request) }, this);
  }

  /** True when the connection failed before any response, and the provider may have closed it before the request was sent. */
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
    const bytes = this.waiting.take(this.controller);
    if (bytes === undefined && this.failure !== undefined) throw this.failure;
    return bytes;
  }

  /** True when the body has ended and all bytes are taken. */
  get isOver(): boolean {
    return this.ended && this.waiting.isEmpty;
  }

  /** Ends the exchange. Closes the connection if the answer is not complete. The next read fails with `reason`. */
  close(reason: Error): void {
    if (this.ended || this.failure !== undefined) return;
    this.failure = reason;
    this.waiting.drop(undefined);
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
    this.connection.spare();
    this.waiting.drop(this.controller);
    const grace = startTimer(() => {
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

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) {
      this.interimResponses += 1;
      if (this.interimResponses > MAX_INTERIM_RESPONSES) this.close(tooMuch('interim responses'));
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
    this.waiting.add(bytes, controller);
    this.changed();
  }

  onResponseEnd(): void {
    this.ended = true;
    this.connection.release();
    this.changed();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.failure === undefined) {
      const isEarly = elapsedMs() - this.sentAt < SENT_TOO_LATE_MS;
      this.isLost = isEarly && LOST_CONNECTION.has((error as { readonly code?: string }).code ?? '');
      this.failure = failureOfConnection(error);
    }
    // The request was not begun, for example because it is invalid.
    if (this.controller === undefined) this.connection.release();
    this.changed();
  }

  /** Calls `onChange` once for everything that undici passes on in one go. */
  private changed(): void {
    if (this.isNotifying) return;
    this.isNotifying = true;
    void SOON.then(this.notify);
  }

  /** Created once: V8 would allocate for a function inside of {@link changed} in each call, also in those that return at once. */
  private readonly notify = (): void => {
    this.isNotifying = false;
    this.onChange();
  };
}

function sendable(request: EncodedRequest) {
  const { method, headers, pieces } = request;
  if (method === 'GET') return { headers, body: null };
  if (pieces !== undefined) return streamed(headers, pieces);
  const { body } = request;
  return body.length > LONG_BODY ? streamed(headers, [Buffer.from(body)]) : { headers, body };
}

/**
 * undici keeps the bytes of a body until the end of the answer, but a stream can release them as soon as they are read.
 * (`Readable.from` keeps them, too.) The system may take all pieces at once, so they are sent in steps.
 */
function streamed(headers: UpstreamRequest['headers'], bytes: readonly Buffer[]) {
  const waiting = [...bytes];
  const steps = new Steps();
  const length = bytes.reduce((sum, piece) => sum + piece.length, 0);
  return {
    headers: { ...headers, 'content-length': String(length) },
    body: new Readable({
      read() {
        const send = (): void => {
          this.push(waiting.shift() ?? null);
        };
        if (steps.isOver) void steps.next().then(send);
        else send();
      },
    }),
  };
}

function tooMuch(what: string): ServiceError {
  return new ServiceError('upstream_error', `The provider sent too many ${what}.`);
}
