/** A bounded map of recent values. When the map is full, the entry that was set longest ago is removed. */
export class RecentMap<K, V> {
  private readonly entries = new Map<K, { readonly value: V; readonly setAt: number }>();

  constructor(private readonly capacity: number) {}

  /** Returns the value if its `setAt` is later than `after`, in milliseconds. */
  get(key: K, after: number): V | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && entry.setAt > after ? entry.value : undefined;
  }

  /** @param setAt the time at which the value was true, in milliseconds. */
  set(key: K, value: V, setAt: number): void {
    // A Map keeps the order of insertion. Deleting and inserting the key again makes the entry the newest.
    this.entries.delete(key);
    this.entries.set(key, { value, setAt });
    if (this.entries.size <= this.capacity) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  /** Whether the map has the key, regardless of its `setAt`. */
  has(key: K): boolean {
    return this.entries.has(key);
  }

  delete(key: K): void {
    this.entries.delete(key);
  }
}
