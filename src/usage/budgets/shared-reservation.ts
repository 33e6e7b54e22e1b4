/**
 * Money that one process has reserved in the database for the streams of a busy caller. Streams take their share in memory.
 *
 * The row in the database always covers the shares of all streams whose records are not stored yet. A stored record counts as spent
 * money, so its share never becomes available again: only {@link grow} makes more money available. All amounts are in millionths of
 * the currency unit.
 */
export class SharedReservation {
  /** What the row in the database covers, less the shares of records that were stored since the row was written. */
  private granted = 0;
  /** The shares of the streams whose records are not stored yet. */
  private taken = 0;
  /** The amount of the row. After a failed write, it is not known. */
  private written = 0;
  private writing: Promise<boolean> | undefined;
  /** The shares of records that were stored while the row is written. */
  private storedMeanwhile = 0;

  /**
   * @param write writes the row, on the condition that the budgets have `needed` left besides this row. Without `needed`, there is no
   * condition. Returns whether the row was written.
   */
  constructor(private readonly write: (micros: number, needed?: number) => Promise<boolean>) {}

  /** Whether no stream has a share. */
  get isFree(): boolean {
    return this.taken === 0;
  }

  /** Whether the row has more money than the streams need. */
  get hasSpare(): boolean {
    return this.written > this.taken;
  }

  /** Takes a share for a stream, if enough money is available. */
  take(micros: number): boolean {
    if (this.taken + micros > this.granted) return false;
    this.taken += micros;
    return true;
  }

  /** Changes the share of a stream. A smaller share makes money available. */
  change(from: number, to: number): void {
    this.taken += to - from;
  }

  /** The record of a stream with this share is stored. */
  stored(micros: number): void {
    this.taken -= micros;
    this.granted -= micros;
    this.storedMeanwhile += micros;
  }

  /**
   * Makes `spare` money available, if the budgets have much more left: `reserve` times as much.
   *
   * @returns whether the money is available.
   */
  async grow(spare: number, reserve: number): Promise<boolean> {
    return this.set(spare, this.taken + spare * reserve);
  }

  /** Gives all money back that no stream needs. */
  async shrink(): Promise<void> {
    // A write that fails leaves nothing to give back. A row of 0 would then be written for nothing.
    while (this.writing !== undefined) await this.writing.catch(() => undefined);
    if (this.hasSpare) await this.set(0);
  }

  private async set(spare: number, needed?: number): Promise<boolean> {
    // One write at a time, so that the row has the amount of the latest one.
    while (this.writing !== undefined) await this.writing.catch(() => undefined);
    const target = this.taken + spare;
    this.storedMeanwhile = 0;
    // While the row is written, streams may only take what it covers both before and after.
    this.granted = Math.min(this.granted, target);
    const before = this.written;
    this.written = Infinity;
    this.writing = this.write(target, needed);
    try {
      const isWritten = await this.writing;
      if (isWritten) this.granted = target - this.storedMeanwhile;
      this.written = isWritten ? target : before;
      return isWritten;
    } finally {
      this.writing = undefined;
    }
  }
}
