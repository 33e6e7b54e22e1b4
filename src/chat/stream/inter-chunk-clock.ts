import type { Histogram } from '../../common/counts/histogram.js';

/** Measures the latencies between the texts of one stream, without the time that the client itself needs. */
export class InterChunkClock {
  private since: number | undefined;

  /** @param latencies receives the latencies, in milliseconds. */
  constructor(private readonly latencies: Histogram) {}

  /** Call this when a text arrives. */
  text(): void {
    const now = performance.now();
    if (this.since !== undefined) this.latencies.add(now - this.since);
    this.since = now;
  }

  /** Call this when the client can take more data after a delay. */
  ready(): void {
    this.since = performance.now();
  }
}
