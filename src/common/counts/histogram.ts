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
