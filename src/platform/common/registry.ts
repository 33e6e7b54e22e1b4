interface Entry<T> {
  readonly value: T;
  /** -1: the entry is removed. */
  index: number;
}

/**
 * The values that exist now, such as the open streams, without an order. For values that come and go with each request.
 *
 * A `Set` or a `Map` is not suitable for them. V8 copies its table from time to time, and the old table points to the new one. When
 * one table reaches the old generation, all later tables, and all values that they ever had, stay until the next full collection.
 */
export class Registry<T> {
  private readonly entries: Entry<T>[] = [];

  get size(): number {
    return this.entries.length;
  }

  /** @returns a function that removes the value. It returns false if the value was removed before. */
  add(value: T): () => boolean {
    const entry: Entry<T> = { value, index: this.entries.length };
    this.entries.push(entry);
    return () => this.remove(entry);
  }

  /** Calls `visit` for each value that exists at its turn. Values may be added and removed meanwhile. */
  forEach(visit: (value: T) => void): void {
    for (const entry of [...this.entries]) if (entry.index !== -1) visit(entry.value);
  }

  private remove(entry: Entry<T>): boolean {
    const { index } = entry;
    if (index === -1) return false;
    entry.index = -1;
    const last = this.entries.pop();
    if (last === undefined || last === entry) return true;
    this.entries[index] = last;
    last.index = index;
    return true;
  }
}
