/** Pieces below this size are copied together: each piece as Node gives it costs some 200 bytes of its own. */
const SMALL_PIECE_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/** The bytes of a body, as far as they have arrived. Uses hardly more memory than the bytes, however small their pieces are. */
export class BodyBytes {
  private readonly blocks: Buffer[] = [];
  /** Takes small pieces. */
  private open: Buffer | undefined;
  private openLength = 0;

  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    // A short body is mostly one piece.
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

  /** All bytes in order, in as few blocks as there are. */
  all(): readonly Buffer[] {
    this.close();
    return this.blocks;
  }

  private close(): void {
    if (this.open !== undefined) this.blocks.push(this.open.subarray(0, this.openLength));
    this.open = undefined;
    this.openLength = 0;
  }
}
