import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;
const QUANTILES = [0.5, 0.99] as const;

/** Measures the delay of timers. All other work of the process has the same delay. */
export class EventLoopDelay {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.histogram.enable();
  }

  /** Returns the delays since the last call in seconds, by quantile. Quantile 1 is the maximum. */
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

/** Subtracts {@link RESOLUTION_MS}, because the histogram measures the whole time between two timers of this distance. */
function delayOf(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NS_PER_SECOND - RESOLUTION_MS / 1000);
}
