/** Records that no store has taken may take up some 50 MB. */
const MAX_QUEUED = 100_000;
const RECORDS_PER_WRITE = 50;

/** What is not kept yet, oldest first; bounded, as a store can be away for days. */
export class RecordQueue<Entry> {
  private readonly entries: Entry[] = [];

  get length(): number {
    return this.entries.length;
  }

  /** False when there is no room. */
  add(entry: Entry): boolean {
    if (this.entries.length >= MAX_QUEUED) return false;
    this.entries.push(entry);
    return true;
  }

  /** Hands over everything in portions, each of which stays until it is kept. Rejects when one is not. */
  async drain(keep: (portion: readonly Entry[]) => Promise<void>): Promise<void> {
    while (this.entries.length > 0) {
      const portion = this.entries.slice(0, RECORDS_PER_WRITE);
      await keep(portion);
      this.entries.splice(0, portion.length);
    }
  }
}
