import type { SummaryValues } from './families/summary-family.js';
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;
const QUANTILES = [0.5, 0.99] as const;

/** Measures the delay of timers. All other work of the process has the same delay. */
export class EventLoopDelay {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  private sum = 0;
  private count = 0;

  constructor() {
    this.histogram.enable();
  }

  /** Returns the delays since the last call in seconds, by quantile, and the sum and the number of all delays. */
  take(): SummaryValues {
    const { histogram } = this;
    const quantiles = [
      ...QUANTILES.map((quantile) => [quantile, delayOf(histogram.percentile(quantile * 100))] as const),
      [1, delayOf(histogram.max)] as const,
    ];
    if (histogram.count > 0) this.sum += delayOf(histogram.mean) * histogram.count;
    this.count += histogram.count;
    histogram.reset();
    return { quantiles, sum: this.sum, count: this.count };
  }

  stop(): void {
    this.histogram.disable();
  }
}

/** Subtracts {@link RESOLUTION_MS}, because the histogram measures the whole time between two timers of this distance. */
function delayOf(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NS_PER_SECOND - RESOLUTION_MS / 1000);
}
