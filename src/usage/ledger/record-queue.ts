/** The maximum number of records in memory, for the time when the store is unavailable. They use about 50 MB. */
const MAX_QUEUED = 100_000;
const RECORDS_PER_WRITE = 50;

/**
 * Holds the records that are not stored yet, oldest first. The length is limited, because a store can be unavailable for
 * days.
 */
export class RecordQueue<Entry> {
  private readonly entries: Entry[] = [];

  get length(): number {
    return this.entries.length;
  }

  /** Adds an entry. Returns false when the queue is full. */
  add(entry: Entry): boolean {
    if (this.entries.length >= MAX_QUEUED) return false;
    this.entries.push(entry);
    return true;
  }

  /**
   * Passes all entries to `keep`, in portions. Entries stay in the queue until they are stored. Rejects when `keep`
   * rejects.
   *
   * @param store resolves to the number of stored entries of the portion, counted from the first: at least one.
   */
  async drain(store: (portion: readonly Entry[]) => Promise<number>): Promise<void> {
    while (this.entries.length > 0) {
      this.entries.splice(0, await store(this.entries.slice(0, RECORDS_PER_WRITE)));
    }
  }
}
