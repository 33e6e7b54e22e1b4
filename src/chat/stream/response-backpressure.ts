import type { Response } from 'express';
import { limitsItsReader } from '../../platform/http/connections/unread-responses.js';
import { realMs, startTimer } from '../../platform/common/timers/pace.js';

/**
 * The backpressure of one response: reports when more may be written. A client that reads slowly slows its source down, so
 * nothing piles up in memory.
 */
export class ResponseBackpressure {
  protected onReady: ((wasSlow: boolean) => void) | undefined;
  /** True while the socket holds back data until the end of this turn of the event loop. */
  private corked = false;

  /** @param stallMs the time after which the connection of a client that reads nothing is closed. */
  constructor(
    protected readonly response: Response,
    private readonly stallMs: number,
  ) {
    limitsItsReader(response);
  }

  /**
   * Sends all data of this turn of the event loop in one system call: the headers with the first text, and the last text
   * with the end.
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

  /** Call this after the last event. The same limit, `stallMs`, then applies to data that the client has not read yet. */
  ending(): void {
    this.response.socket?.setTimeout(realMs(this.stallMs));
  }

  /** Closes the connection, so that the client sees that the response is incomplete. */
  abort(): void {
    this.response.destroy();
  }

  /** True when all data has reached the socket and the socket can take more data. */
  get isReady(): boolean {
    const { response } = this;
    return !response.writableNeedDrain && response.socket?.writableNeedDrain !== true;
  }

  /**
   * Calls the listener once, when {@link isReady} is true. Does not call it after the connection is closed.
   *
   * @param listener `wasSlow`: the client has not read fast enough, so the stream had to wait for the client.
   */
  whenReady(listener: (wasSlow: boolean) => void): void {
    this.onReady = listener;
    this.notifyIfReady(false);
  }

  protected notifyIfReady(wasSlow: boolean): void {
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
    const stall = startTimer(() => response.destroy(), this.stallMs);
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
