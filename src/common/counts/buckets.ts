/**
 * Counts values by the first bound that they do not exceed: a histogram that costs a few additions a value, so that it can
 * stand where each chunk passes.
 */
export class Buckets {
  /** One for each bound, and one for what exceeds them all. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds ascending. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    const { bounds, counts } = this;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] ?? Infinity)) index++;
    counts[index] = (counts[index] ?? 0) + 1;
    this.sum += value;
  }
}
