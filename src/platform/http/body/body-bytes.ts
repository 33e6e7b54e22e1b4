import { Steps } from '../../common/event-loop/event-loop-turns.js';

/**
 * Pieces below this size are copied into one block, because each piece that Node delivers has an overhead of about 200
 * bytes.
 */
const SMALL_PIECE_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * The bytes of a body that have arrived so far. Uses little more memory than the bytes themselves, even if the pieces are
 * small.
 */
export class BodyBytes {
  private readonly blocks: Buffer[] = [];
  /** The block that collects small pieces. */
  private open: Buffer | undefined;
  private openLength = 0;

  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    // A short body usually arrives in one piece.
    if (piece.length >= SMALL_PIECE_BYTES || this.length === piece.length) {
      this.close();
      this.blocks.push(piece);
      return;
    }
    if (this.openLength + piece.length > BLOCK_BYTES) this.close();
    this.open ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    piece.copy(this.open, this.openLength);
    this.openLength += piece.length;
  }

  /** Returns all bytes in order. */
  whole(): Buffer {
    this.close();
    const [first] = this.blocks;
    return first !== undefined && this.blocks.length === 1 ? first : Buffer.concat(this.blocks);
  }

  /** The same, in steps: the copy of 32 MiB would stop all streams. */
  async wholeInSteps(): Promise<Buffer> {
    this.close();
    const whole = Buffer.allocUnsafeSlow(this.length);
    const steps = new Steps();
    let at = 0;
    for (const block of this.blocks) {
      at += block.copy(whole, at);
      if (steps.isOver) await steps.next();
    }
    return whole;
  }

  private close(): void {
    if (this.open !== undefined) this.blocks.push(this.open.subarray(0, this.openLength));
    this.open = undefined;
    this.openLength = 0;
  }
}
