/** Random numbers that depend on a seed only, so that a run can be repeated. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Returns a number from 0 to below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from `least` to below `below`. */
  between(least: number, below: number): number {
    return least + Math.floor(this.next() * (below - least));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(all: readonly T[]): T {
    return all[this.between(0, all.length)] as T;
  }

  /** Returns another generator, whose numbers do not depend on when this one is used later. */
  fork(): SeededRandom {
    return new SeededRandom(this.next() * 2 ** 32);
  }
}
