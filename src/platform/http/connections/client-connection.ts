import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from '../../common/event-loop/event-loop-turns.js';
import type { ShedLoad } from '../../common/shed-load.js';
import { elapsedMs, startTimer } from '../../common/timers/pace.js';
import { destroyAfter } from '../../common/timers/timeouts.js';

/** The maximum number of pipelined requests that wait on one connection for earlier responses. */
const MAX_WAITING_REQUESTS = 100;
/** The maximum number of bytes of their bodies that are read ahead. */
const MAX_WAITING_BYTES = 256 * 1024;
/** How long the connection may stay paused above that size. After this time, its waiting requests are dropped. */
const FULL_LIMIT_MS = 2_000;
/** How long the client may take to read the last response before the connection is cut. */
const LINGER_MS = 2_000;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The path of the health checks. Their responses do not depend on other requests, so they must not wait behind other
 * requests.
 */
const HEALTH = /^\/api\/v1\/health(?:[/?]|$)/;

export const isProbe = ({ url }: IncomingMessage): boolean => HEALTH.test(url ?? '');

/** A request, its response and its handler. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: RequestHandler;
}

/**
 * One connection of a client. The connection handles one request at a time: a pipelined request starts after the previous
 * response has ended. If the client disconnects, the waiting requests never start.
 *
 * The reason: Node delivers pipelined requests at once, and a waiting response never emits `close` when the client
 * disconnects. So the resources of such a request would be held until the process ends.
 */
export class ClientConnection {
  /** When the last request ended, or when the connection opened if there was no request (`elapsedMs()`). */
  idleSince = elapsedMs();
  private current: Exchange | undefined;
  private waiting: Exchange[] = [];
  private droppedCount = 0;
  private fullTimer: NodeJS.Timeout | undefined;

  /** @param idle contains this connection while it has no request, longest idle first. */
  constructor(
    readonly socket: Socket,
    private readonly idle: Set<ClientConnection>,
    private readonly shedLoad: ShedLoad,
  ) {
    idle.add(this);
  }

  /** The response to the current request. */
  get response(): ServerResponse | undefined {
    return this.current?.response;
  }

  /** Whether the service waits for the client: the client has not sent a whole request, or has not read the whole response. */
  get isWaitingForClient(): boolean {
    return this.current === undefined || !this.current.request.complete || this.current.response.writableEnded;
  }

  /** Whether the service may respond to a parser error: the error then belongs to the next response on this connection. */
  get mayReportParserError(): boolean {
    const { current } = this;
    if (current === undefined) return true;
    return !current.request.complete && !current.response.headersSent;
  }

  /** Handles the request now, or later when it is its turn. Cuts the connection if too many requests wait. */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    if (this.socket.destroyed) return;
    const exchange = { request, response, handle };
    if (this.waiting.length + this.droppedCount >= MAX_WAITING_REQUESTS) this.cut();
    // Also after the last response: the response is behind those that are never sent, so it would never emit `close`.
    else if (this.droppedCount > 0) this.drop(exchange);
    else if (this.current === undefined) this.begin(exchange);
    else this.wait(exchange);
  }

  private begin(exchange: Exchange): void {
    const { request, response, handle } = exchange;
    this.current = exchange;
    this.idle.delete(this);
    response.once('close', this.endCurrent);
    takeTurn(() => {
      if (!response.closed) handle(request, response);
    }, isProbe(request));
  }

  private wait(exchange: Exchange): void {
    if (this.waiting.length === 0) {
      this.socket.on('pause', this.readAhead).on('drain', this.readAhead).on('resume', this.stayFull);
    }
    this.waiting.push(exchange);
    // Node does not pause a connection for a small body.
    this.stayFull();
  }

  private readonly endCurrent = (): void => {
    const { socket } = this;
    const next = this.waiting.shift();
    this.current = next;
    if (next !== undefined) {
      this.stopFullTimer();
      if (this.waiting.length === 0) this.stopReadingAhead();
      // The other listeners of `close` run first: they release the resources of the previous request.
      process.nextTick(this.beginNext, next);
    } else if (this.droppedCount > 0) {
      this.endConnection();
    } else if (!socket.destroyed) {
      this.idleSince = elapsedMs();
      this.idle.add(this);
    }
  };

  private readonly beginNext = (next: Exchange): void => {
    const { socket } = this;
    // A response without a socket did not get its turn, because the previous response has ended the connection.
    if (socket.destroyed || next.response.socket === null) {
      this.waiting = [];
      this.stopReadingAhead();
      return;
    }
    // The previous response may have set a time limit for its unread end.
    socket.setTimeout(0);
    this.begin(next);
    // A complete body asks for no more, so nothing else would end the pause.
    if (next.request.complete) this.readAhead();
  };

  /**
   * Reads the bodies of waiting requests ahead.
   *
   * Node stops reading a connection while the body of a request is unread, and then does not notice when the client
   * disconnects. A connection that is paused because its client does not read stays paused until the client has read.
   */
  private readonly readAhead = (): void => {
    const { socket } = this;
    if (socket.writableNeedDrain) return;
    if (this.isFull) this.fullTimer ??= startTimer(this.dropWaiting, FULL_LIMIT_MS);
    else process.nextTick(() => socket.resume());
  };

  /**
   * Keeps a connection paused whose waiting requests have reached the maximum size.
   *
   * Node resumes a connection at the end of each body, and emits `resume` later. By then the connection may count as paused
   * again, and Node reads it all the same until the next `pause`.
   */
  private readonly stayFull = (): void => {
    const { socket } = this;
    if (!this.isFull) return;
    if (socket.isPaused()) socket.emit('pause');
    else socket.pause();
  };

  private get isFull(): boolean {
    return this.waiting.reduce((sum, { request }) => sum + request.readableLength, 0) >= MAX_WAITING_BYTES;
  }

  private stopReadingAhead(): void {
    this.socket.off('pause', this.readAhead).off('drain', this.readAhead).off('resume', this.stayFull);
    this.stopFullTimer();
  }

  private stopFullTimer(): void {
    clearTimeout(this.fullTimer);
    this.fullTimer = undefined;
  }

  /**
   * Drops the waiting requests because the current response takes too long.
   *
   * The current response continues. The waiting requests are read and discarded, so that the service notices when the client
   * disconnects. The connection ends with the current response, and the client must send the other requests again.
   */
  private readonly dropWaiting = (): void => {
    const dropped = this.waiting;
    this.waiting = [];
    this.stopReadingAhead();
    if (this.socket.destroyed || this.current === undefined) return;
    this.shedLoad.count('connections');
    this.current.response.shouldKeepAlive = false;
    for (const exchange of dropped) this.drop(exchange);
    // Complete bodies ask for no more, so nothing else would end the pause.
    this.socket.resume();
  };

  private drop({ request }: Exchange): void {
    this.droppedCount += 1;
    request.resume();
  }

  private endConnection(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    destroyAfter(LINGER_MS, socket);
    socket.end();
  }

  private cut(): void {
    this.shedLoad.count('connections');
    this.socket.destroy();
  }
}
