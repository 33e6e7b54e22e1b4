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

  /**
   * Hands over everything in portions. Entries stay until they are kept. Rejects when `keep` does.
   *
   * @param keep resolves to how many of the portion are kept, from its first on: at least one.
   */
  async drain(keep: (portion: readonly Entry[]) => Promise<number>): Promise<void> {
    while (this.entries.length > 0) {
      this.entries.splice(0, await keep(this.entries.slice(0, RECORDS_PER_WRITE)));
    }
  }
}
