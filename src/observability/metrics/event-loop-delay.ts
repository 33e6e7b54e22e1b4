import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;
const QUANTILES = [0.5, 0.99] as const;

/** By how much timers come late, which is how long everything else waits. */
export class EventLoopDelay {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.histogram.enable();
  }

  /** Seconds since the last call, by quantile; 1 is the longest. */
  take(): readonly (readonly [quantile: number, seconds: number])[] {
    const { histogram } = this;
    const delays = [
      ...QUANTILES.map((quantile) => [quantile, delayOf(histogram.percentile(quantile * 100))] as const),
      [1, delayOf(histogram.max)] as const,
    ];
    histogram.reset();
    return delays;
  }

  stop(): void {
    this.histogram.disable();
  }
}

/** What is measured is the time between two timers that are {@link RESOLUTION_MS} apart. */
function delayOf(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NS_PER_SECOND - RESOLUTION_MS / 1000);
}
