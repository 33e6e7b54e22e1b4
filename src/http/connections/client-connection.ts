import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurn } from '../../common/event-loop/event-loop-turns.js';
import type { ShedLoad } from '../../common/shed-load.js';

/** Pipelined requests that may wait on one connection for the answers before them. */
const MAX_WAITING_REQUESTS = 100;
/** Bytes of their bodies that are read ahead. */
const MAX_WAITING_BYTES = 256 * 1024;
/** How long a connection with more than that stays unread before its waiting requests are dropped. */
const FULL_LIMIT_MS = 2_000;
/** How long the client may take to read the last answer before the connection is cut. */
const FAREWELL_MS = 2_000;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What it says hangs on nothing else, and so must not wait for what others ask. */
const HEALTH = '/api/v1/health';

export const isProbe = ({ url }: IncomingMessage): boolean => url?.startsWith(HEALTH) === true;

/** A request and what handles it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: RequestHandler;
}

/**
 * One connection of a client. It handles one request at a time: a pipelined request begins when the answer before it is
 * over. If the client leaves, the requests that wait never begin.
 *
 * Node hands over pipelined requests at once, and a response that waits for its turn never emits `close` when the client
 * leaves. Whatever such a request holds would be held until the process ends.
 */
export class ClientConnection {
  /** When the last request ended, or the connection began (`performance.now()`). */
  idleSince = performance.now();
  private current: Exchange | undefined;
  private waiting: Exchange[] = [];
  private droppedCount = 0;
  private fullTimer: NodeJS.Timeout | undefined;

  /** @param idle holds this connection while it has no request, the longest idle first. */
  constructor(
    readonly socket: Socket,
    private readonly idle: Set<ClientConnection>,
    private readonly shedLoad: ShedLoad,
  ) {
    idle.add(this);
  }

  /** The response to the request that is being handled. */
  get response(): ServerResponse | undefined {
    return this.current?.response;
  }

  /** The service has nothing to do: the client has not sent all of its request, or has not read all of the answer. */
  get isWaitingForClient(): boolean {
    return this.current === undefined || !this.current.request.complete || this.current.response.writableEnded;
  }

  /** An error of the parser belongs to the next answer on this connection, so that it may be told. */
  get mayTellParserError(): boolean {
    const { current } = this;
    if (current === undefined) return true;
    return !current.request.complete && !current.response.headersSent;
  }

  /** Handles the request now, or when its turn comes. With too many requests waiting, cuts the connection. */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    if (this.socket.destroyed) return;
    const exchange = { request, response, handle };
    if (this.current === undefined) this.begin(exchange);
    else if (this.waiting.length + this.droppedCount >= MAX_WAITING_REQUESTS) this.cut();
    else if (this.droppedCount > 0) this.drop(exchange);
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
    if (this.waiting.length === 0) this.socket.on('pause', this.readAhead);
    this.waiting.push(exchange);
  }

  private readonly endCurrent = (): void => {
    const { socket } = this;
    const next = this.waiting.shift();
    this.current = next;
    if (next !== undefined) {
      this.stopFullTimer();
      if (this.waiting.length === 0) this.socket.off('pause', this.readAhead);
      // The other listeners of `close` come first: they give back what the request before held.
      process.nextTick(this.beginNext, next);
    } else if (this.droppedCount > 0) {
      this.endConnection();
    } else if (!socket.destroyed) {
      this.idleSince = performance.now();
      this.idle.add(this);
    }
  };

  private readonly beginNext = (next: Exchange): void => {
    const { socket } = this;
    // Without a socket of its own, a response was not given its turn: the one before it has ended the connection.
    if (socket.destroyed || next.response.socket === null) {
      this.waiting = [];
      this.stopReadingAhead();
      return;
    }
    // The answer before may have limited how long its end may remain unread.
    socket.setTimeout(0);
    this.begin(next);
  };

  /**
   * Node stops reading a connection while the body of a request is not read. It then does not notice that the client
   * leaves. A connection that is paused because its client does not read stays paused.
   */
  private readonly readAhead = (): void => {
    const { socket } = this;
    if (socket.writableNeedDrain) return;
    const bytes = this.waiting.reduce((sum, { request }) => sum + request.readableLength, 0);
    if (bytes < MAX_WAITING_BYTES) process.nextTick(() => socket.resume());
    else this.fullTimer ??= setTimeout(this.dropWaiting, FULL_LIMIT_MS);
  };

  private stopReadingAhead(): void {
    this.socket.off('pause', this.readAhead);
    this.stopFullTimer();
  }

  private stopFullTimer(): void {
    clearTimeout(this.fullTimer);
    this.fullTimer = undefined;
  }

  /**
   * The answer before them takes long. It goes on, but the requests that wait are read and forgotten, so that it is
   * noticed when the client leaves. The connection ends with that answer: a client has to send again what was not answered.
   */
  private readonly dropWaiting = (): void => {
    const dropped = this.waiting;
    this.waiting = [];
    this.stopReadingAhead();
    if (this.socket.destroyed || this.current === undefined) return;
    this.shedLoad.note('connections');
    this.current.response.shouldKeepAlive = false;
    for (const exchange of dropped) this.drop(exchange);
  };

  private drop({ request }: Exchange): void {
    this.droppedCount += 1;
    request.resume();
  }

  private endConnection(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    const farewell = setTimeout(() => socket.destroy(), FAREWELL_MS);
    socket.once('close', () => {
      clearTimeout(farewell);
    });
    socket.end();
  }

  private cut(): void {
    this.shedLoad.note('connections');
    this.socket.destroy();
  }
}
