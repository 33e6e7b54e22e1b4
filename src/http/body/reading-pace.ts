import type { IncomingMessage } from 'node:http';

/** All requests together. Some milliseconds of reading and measuring. */
const BYTES_PER_TURN = 4 * 1024 * 1024;
/** Not worth counting. */
const SMALL_PIECE_BYTES = 4 * 1024;

/**
 * Shares each turn of the event loop between the bodies that are being read and everything else: Node reads up to 2 MiB of
 * each connection in one turn, of all connections that have sent something.
 */
export class ReadingPace {
  private bytesLeft = BYTES_PER_TURN;
  private waiting: IncomingMessage[] = [];
  private isCounting = false;

  /** To be called for each piece. Pauses the request until the next turn where this one has read enough. */
  count(request: IncomingMessage, bytes: number): void {
    if (bytes < SMALL_PIECE_BYTES) return;
    this.bytesLeft -= bytes;
    if (!this.isCounting) {
      this.isCounting = true;
      setImmediate(() => {
        this.beginTurn();
      });
    }
    if (this.bytesLeft > 0) return;
    request.pause();
    this.waiting.push(request);
  }

  private beginTurn(): void {
    const { waiting } = this;
    this.isCounting = false;
    this.bytesLeft = BYTES_PER_TURN;
    this.waiting = [];
    for (const request of waiting) request.resume();
  }
}
