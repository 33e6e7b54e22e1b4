import type { Response } from 'express';
import type { OutgoingHttpHeaders } from 'node:http';
import { limitsItsReader } from '../../http/connections/reader-limit.js';

/** An `id:` line with a position of a durable stream. The ids of Nest are numbers. */
const OWN_ID = /^id: [\w-]{8}-/;

/**
 * The response of one stream. Tells when the next event may be sent, and removes the additions of Nest to an event stream,
 * because they are not part of the interface. Nest has no option for either, and never pauses an Observable.
 */
export class StreamSink {
  /** The number of events that Nest has not written to the response yet. */
  private pending = 0;
  /** True while the socket holds back data until the end of this turn of the event loop. */
  private corked = false;
  private onReady: ((wasSlow: boolean) => void) | undefined;

  /**
   * @param stallMs the time after which the connection of a client that reads nothing is closed.
   * @param keepsIds whether the `id:` lines of the service are sent. Without this, no event has an id.
   */
  constructor(
    private readonly response: Response,
    private readonly stallMs: number,
    keepsIds = false,
  ) {
    setHeaders(response);
    limitsItsReader(response);
    const write = response.write.bind(response) as (chunk: string) => boolean;
    const flushHeaders = response.flushHeaders.bind(response);
    response.flushHeaders = (): void => {
      this.cork();
      flushHeaders();
    };
    response.write = (chunk: string): boolean => {
      const event = keepsIds && OWN_ID.test(chunk) ? chunk : withoutFraming(chunk);
      if (event !== '') {
        this.pending--;
        if (!this.writeChunk(event)) write(event);
        if (this.pending === 0) this.look(false);
      }
      // Nest does not need to wait: the next event is sent when the sink is ready.
      return true;
    };
  }

  /**
   * Sends all data of this turn of the event loop in one system call: the headers with the first text, and the last text
   * with the end. Without this, Nest flushes the headers separately, and waits for one tick between two events.
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

  /** Call this for each event before the event is emitted. */
  sending(): void {
    this.pending++;
  }

  /** Call this after the last event. The same limit, `stallMs`, then applies to data that the client has not read yet. */
  ending(): void {
    this.response.socket?.setTimeout(this.stallMs);
  }

  /** True when all events have reached the socket and the socket can take more data. */
  get isReady(): boolean {
    const { response } = this;
    return this.pending === 0 && !response.writableNeedDrain && response.socket?.writableNeedDrain !== true;
  }

  /**
   * Calls the listener once, when {@link isReady} is true. Does not call it after the connection is closed.
   *
   * @param listener `wasSlow`: the client has not read fast enough, so the sink had to wait for the client.
   */
  whenReady(listener: (wasSlow: boolean) => void): void {
    this.onReady = listener;
    if (this.pending === 0) this.look(false);
  }

  private look(wasSlow: boolean): void {
    const { onReady } = this;
    if (onReady === undefined) return;
    if (!this.isReady) {
      if (!wasSlow) this.awaitClient();
      return;
    }
    this.onReady = undefined;
    onReady(wasSlow);
  }

  /** Waits until the client has read enough. Closes the connection if that takes too long. */
  private awaitClient(): void {
    const { response } = this;
    const { socket } = response;
    const stall = setTimeout(() => response.destroy(), this.stallMs);
    const drained = (): void => {
      if (!this.isReady && !response.destroyed) return;
      clearTimeout(stall);
      response.off('drain', drained).off('close', drained);
      socket?.off('drain', drained);
      if (!response.destroyed) this.look(true);
    };
    response.on('drain', drained).on('close', drained);
    socket?.on('drain', drained);
  }

  /**
   * Writes an event as one chunk of the body. This method creates the chunk as one string. Node would write four buffers,
   * and each event would cost a sixth more. Returns false when the body is not chunked (HTTP/1.0), or the connection is
   * closed.
   */
  private writeChunk(event: string): boolean {
    const { socket, chunkedEncoding } = this.response;
    if (socket === null || !chunkedEncoding) return false;
    socket.write(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
    return true;
  }
}

/**
 * Changes two headers of Nest. The media type names the encoding, because some HTTP clients, such as `requests` for Python,
 * otherwise read a text as Latin-1. `Connection: close` is sent if the client asked for it: Nest always announces that it
 * keeps the connection of an event stream, so such a client would wait in vain for the end of the connection.
 */
function setHeaders(response: Response): void {
  const writeHead = response.writeHead.bind(response) as (status: number, headers: OutgoingHttpHeaders) => Response;
  const writeHeadOfStream: typeof writeHead = (status, headers) => {
    headers['Content-Type'] = 'text/event-stream; charset=utf-8';
    if (!response.shouldKeepAlive) headers['Connection'] = 'close';
    return writeHead(status, headers);
  };
  response.writeHead = writeHeadOfStream as Response['writeHead'];
}

/**
 * Removes the additions of Nest from one write: an empty line before the first event, an `id:` line in each event, and the
 * empty comment that checks whether the client is still connected. The keep-alive comments of this service do that check.
 */
function withoutFraming(chunk: string): string {
  if (chunk.startsWith('id: ')) return chunk.slice(chunk.indexOf('\n') + 1);
  if (chunk.startsWith('event: ')) return chunk.replace(/\nid: \d+\n/, '\n');
  return chunk === '\n' || chunk === ': \n\n' ? '' : chunk;
}
