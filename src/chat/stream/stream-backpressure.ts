import type { Response } from 'express';
import { limitsItsReader } from '../../http/connections/reader-limit.js';
import { correctNestSse } from './nest-sse-corrections.js';

/**
 * The backpressure of one stream: tells when the next event may be sent. A client that reads slowly slows its source down, so
 * nothing piles up in memory. Nest never pauses an Observable, and has a queue of its own: therefore events count until they
 * are written.
 */
export class StreamBackpressure {
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
    limitsItsReader(response);
    correctNestSse(response, {
      keepsIds,
      beforeHeaders: () => {
        this.cork();
      },
      afterEvent: () => {
        this.pending--;
        if (this.pending === 0) this.notifyIfReady(false);
      },
    });
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
   * @param listener `wasSlow`: the client has not read fast enough, so the stream had to wait for the client.
   */
  whenReady(listener: (wasSlow: boolean) => void): void {
    this.onReady = listener;
    if (this.pending === 0) this.notifyIfReady(false);
  }

  private notifyIfReady(wasSlow: boolean): void {
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
      if (!response.destroyed) this.notifyIfReady(true);
    };
    response.on('drain', drained).on('close', drained);
    socket?.on('drain', drained);
  }
}
