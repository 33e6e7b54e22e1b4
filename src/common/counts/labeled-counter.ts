/** Counts events by name. */
export class LabeledCounter<Name extends string = string> implements Iterable<readonly [Name, number]> {
  private readonly counts = new Map<Name, number>();

  /** @param names the names that start with the count 0. */
  constructor(names: Iterable<Name> = []) {
    for (const name of names) this.counts.set(name, 0);
  }

  add(name: Name, count = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  [Symbol.iterator](): Iterator<readonly [Name, number]> {
    return this.counts[Symbol.iterator]();
  }
}
