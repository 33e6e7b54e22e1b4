import type { Histogram } from '../../common/counts/histogram.js';

/** Measures the gaps between the texts of one stream, without the time that the client itself needs. */
export class InterChunkClock {
  private since: number | undefined;

  /** @param gaps receives the gaps, in milliseconds. */
  constructor(private readonly gaps: Histogram) {}

  /** Call this when a text arrives. */
  text(): void {
    const now = performance.now();
    if (this.since !== undefined) this.gaps.add(now - this.since);
    this.since = now;
  }

  /** Call this when the client can take more data after a delay. */
  ready(): void {
    this.since = performance.now();
  }
}
