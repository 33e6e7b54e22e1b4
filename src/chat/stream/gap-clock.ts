import type { Buckets } from '../../common/counts/buckets.js';

/** Measures the gaps between the texts of one stream, but for what its client itself holds up. */
export class GapClock {
  private since: number | undefined;

  /** @param gaps takes them, in milliseconds. */
  constructor(private readonly gaps: Buckets) {}

  /** A text is there. */
  text(): void {
    const now = performance.now();
    if (this.since !== undefined) this.gaps.add(now - this.since);
    this.since = now;
  }

  /** The client takes more only now. */
  ready(): void {
    this.since = performance.now();
  }
}
