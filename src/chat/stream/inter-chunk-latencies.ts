import { Injectable } from '@nestjs/common';
import { Histogram } from '../../platform/common/counts/counters.js';

/** The bounds of the buckets, in milliseconds. */
const BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

/** Counts the time that clients wait between two texts, by model. Counting starts at the call of {@link InterChunkLatencies.count}. */
@Injectable()
export class InterChunkLatencies {
  readonly byModel = new Map<string, Histogram>();
  private isCounted = false;

  /** Starts the counting for new streams. */
  count(): void {
    this.isCounted = true;
  }

  /** Returns a clock for one stream. `model` must be a model of the catalog. */
  clock(model: string): InterChunkClock | undefined {
    if (!this.isCounted) return undefined;
    let latencies = this.byModel.get(model);
    if (latencies === undefined) this.byModel.set(model, (latencies = new Histogram(BOUNDS)));
    return new InterChunkClock(latencies);
  }
}

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
