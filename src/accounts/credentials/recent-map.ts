/** A bounded map of what was learnt lately: when it is full, what was set longest ago makes room. */
export class RecentMap<K, V> {
  private readonly entries = new Map<K, { readonly value: V; readonly setAt: number }>();

  constructor(private readonly capacity: number) {}

  /** The value, unless it was set at `after` or before. */
  get(key: K, after: number): V | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && entry.setAt > after ? entry.value : undefined;
  }

  /** @param setAt the moment at which the value was true, in milliseconds. */
  set(key: K, value: V, setAt: number): void {
    // A Map keeps the order of insertion: to insert anew makes the entry the youngest.
    this.entries.delete(key);
    this.entries.set(key, { value, setAt });
    if (this.entries.size <= this.capacity) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  /** Whether the key is there, however long ago it was set. */
  has(key: K): boolean {
    return this.entries.has(key);
  }

  delete(key: K): void {
    this.entries.delete(key);
  }
}
