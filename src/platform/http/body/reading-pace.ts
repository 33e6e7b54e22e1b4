import type { IncomingMessage } from 'node:http';

/** The number of bytes read in one turn, for all requests together. Reading and measuring them takes some milliseconds. */
const BYTES_PER_TURN = 4 * 1024 * 1024;
/** Pieces below this size are not counted. */
const SMALL_PIECE_BYTES = 4 * 1024;

/**
 * Divides each turn of the event loop between reading bodies and all other work. Without this limit, Node reads up to 2 MiB
 * per connection in one turn, for all connections that have sent data.
 */
export class ReadingPace {
  private bytesLeft = BYTES_PER_TURN;
  private waiting: IncomingMessage[] = [];
  private isCounting = false;

  /** Counts a piece. Must be called for each piece. Pauses the request until the next turn if this turn has read enough. */
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
