import type { Response } from 'express';
import type { OutgoingHttpHeaders } from 'node:http';
import { limitsItsReader } from '../../http/connections/reader-limit.js';

/**
 * The response of one stream, as its events see it: tells when the next one may be sent, and takes off what Nest adds to
 * an event stream and the interface does not have. Nest has no option against either, and never pauses an Observable.
 */
export class StreamSink {
  /** Events on their way through Nest to the response. */
  private pending = 0;
  /** The socket holds back what is written until the turn is over. */
  private corked = false;
  private onProgress: (() => void) | undefined;

  /** @param stallMs how long the client may read nothing at all before the connection is cut. */
  constructor(
    private readonly response: Response,
    private readonly stallMs: number,
  ) {
    closeWhereAsked(response);
    limitsItsReader(response);
    const write = response.write.bind(response) as (chunk: string) => boolean;
    const flushHeaders = response.flushHeaders.bind(response);
    response.flushHeaders = (): void => {
      this.cork();
      flushHeaders();
    };
    response.write = (chunk: string): boolean => {
      const event = withoutFraming(chunk);
      if (event !== '') {
        this.pending--;
        if (!this.writeChunk(event)) write(event);
        this.onProgress?.();
      }
      // Nest need not wait: the next event is sent when `ready`.
      return true;
    };
  }

  /**
   * What is written in this turn goes out in one system call: the headers with the first text, the last text with the end.
   * Nest flushes the headers by themselves, and lets a tick pass between two events.
   */
  cork(): void {
    const { socket } = this.response;
    if (this.corked || socket === null) return;
    this.corked = true;
    socket.cork();
    setImmediate(() => {
      this.corked = false;
      socket.uncork();
    });
  }

  /** To be called for each event before it is emitted. */
  sending(): void {
    this.pending++;
  }

  /** Nothing more will be sent. What the client has not read yet waits for it no longer than anything else. */
  ending(): void {
    this.response.socket?.setTimeout(this.stallMs);
  }

  /** Every event has reached the socket, and the socket takes more. */
  get isReady(): boolean {
    const { response } = this;
    return this.pending === 0 && !response.writableNeedDrain && response.socket?.writableNeedDrain !== true;
  }

  /** Resolves when {@link isReady}, or when the connection is gone. */
  ready(): Promise<void> {
    const { response } = this;
    const { socket } = response;
    if (this.isReady || response.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const stall = setTimeout(() => response.destroy(), this.stallMs);
      const settle = (): void => {
        if (!this.isReady && !response.destroyed) return;
        clearTimeout(stall);
        this.onProgress = undefined;
        response.off('drain', settle).off('close', settle);
        socket?.off('drain', settle);
        resolve();
      };
      this.onProgress = settle;
      response.on('drain', settle).on('close', settle);
      socket?.on('drain', settle);
    });
  }

  /**
   * Writes an event as a chunk of the body, framed here: one string, where Node would write four buffers, which costs a
   * sixth more for each event. False where the body is not chunked (HTTP/1.0), or the connection is gone.
   */
  private writeChunk(event: string): boolean {
    const { socket, chunkedEncoding } = this.response;
    if (socket === null || !chunkedEncoding) return false;
    socket.write(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
    return true;
  }
}

/** Nest says that it keeps the connection of every event stream. A client that asked for its end would wait for it in vain. */
function closeWhereAsked(response: Response): void {
  if (response.shouldKeepAlive) return;
  const writeHead = response.writeHead.bind(response) as (status: number, headers: OutgoingHttpHeaders) => Response;
  const writeHeadAndClose: typeof writeHead = (status, headers) =>
    writeHead(status, { ...headers, Connection: 'close' });
  response.writeHead = writeHeadAndClose as Response['writeHead'];
}

/**
 * One write of Nest without its additions: an empty line before the first event, an `id:` line in every event, and the
 * empty comment by which it finds out whether a client is still there (our own keep-alives do that).
 */
function withoutFraming(chunk: string): string {
  if (chunk.startsWith('id: ')) return chunk.slice(chunk.indexOf('\n') + 1);
  if (chunk.startsWith('event: ')) return chunk.replace(/\nid: \d+\n/, '\n');
  return chunk === '\n' || chunk === ': \n\n' ? '' : chunk;
}
