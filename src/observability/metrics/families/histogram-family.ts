import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import type { Histogram } from '../../../common/counts/histogram.js';

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** The buckets by the value of the label. */
  readonly buckets: () => Iterable<readonly [string, Histogram]>;
  /** The number of bucket units in one unit of the metric, for example 1000 for milliseconds to seconds. */
  readonly divisor: number;
}

/** Shows {@link Histogram} as a histogram of the registry. The histogram of the library would cost too much for each chunk. */
export class HistogramFamily {
  readonly name: string;

  constructor(
    registry: Registry,
    private readonly options: HistogramOptions,
  ) {
    this.name = options.name;
    // The registry uses only the name and `get` of a metric.
    registry.registerMetric(this as unknown as Metric);
  }

  get(): Promise<object> {
    const { name, help, buckets } = this.options;
    const values = [...buckets()].flatMap(([value, counted]) => this.valuesOf(value, counted));
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values });
  }

  private valuesOf(value: string, { bounds, counts, sum }: Histogram): MetricValueWithName<string>[] {
    const { name, label, divisor } = this.options;
    const labels = { [label]: value };
    let total = 0;
    const below = counts.map((count, index): MetricValueWithName<string> => {
      total += count;
      const bound = bounds[index];
      return {
        metricName: `${name}_bucket`,
        labels: { ...labels, le: bound === undefined ? '+Inf' : bound / divisor },
        value: total,
      };
    });
    return [
      ...below,
      { metricName: `${name}_sum`, labels, value: sum / divisor },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}
