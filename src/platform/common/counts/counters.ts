/**
 * A histogram: counts each value in the bucket of the first bound that the value does not exceed. One value costs only a
 * few additions, so the histogram can be used for each chunk of a stream.
 *
 * @experimental
 * @since 1.0
 */
export class Histogram {
  /** One count for each bound, and one for the values above all bounds. */
  readonly counts: number[];
  /** The sum of all values. */
  sum = 0;

  /** @param bounds the upper bounds of the buckets, in ascending order. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = Array<number>(bounds.length + 1).fill(0);
  }

  /** Counts one value, in the unit of the bounds. */
  add(value: number): void {
    const { bounds, counts } = this;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] ?? Infinity)) index++;
    counts[index] = (counts[index] ?? 0) + 1;
    this.sum += value;
  }
}

/** Counts what each key uses, and what all keys use together. A key without use takes no memory. */
export class KeyedCount {
  private readonly byKey = new Map<string, number>();
  private sum = 0;

  get total(): number {
    return this.sum;
  }

  of(key: string): number {
    return this.byKey.get(key) ?? 0;
  }

  /** @param amount negative to take back what was added. */
  add(key: string, amount: number): void {
    const count = this.of(key) + amount;
    if (count === 0) this.byKey.delete(key);
    else this.byKey.set(key, count);
    this.sum += amount;
  }
}

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
