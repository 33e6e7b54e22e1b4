import type { Dispatcher } from 'undici';

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
