import { Counter, Gauge, type LabelValues, type Metric, type MetricValueWithName, type Registry } from 'prom-client';
import type { Histogram } from '../../../plugin-api/core/common.js';

type Sample<Label extends string> = readonly [labels: LabelValues<Label>, value: number];

interface FamilyOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** Called at each scrape, so that the source of the numbers does not depend on metrics. */
  readonly samples: () => Iterable<Sample<Label>>;
}

/** Registers a counter whose values come from another object. */
export function counter<Label extends string = never>(registry: Registry, options: FamilyOptions<Label>): void {
  new Counter(configurationOf(registry, options));
}

/** Registers a gauge whose values come from another object. */
export function gauge<Label extends string = never>(registry: Registry, options: FamilyOptions<Label>): void {
  new Gauge(configurationOf(registry, options));
}

function configurationOf<Label extends string>(
  registry: Registry,
  { name, help, labels = [], samples }: FamilyOptions<Label>,
) {
  return {
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect(this: Counter<Label> | Gauge<Label>) {
      // After the reset, all values are 0, so that `inc` sets the value of a gauge too.
      this.reset();
      for (const [values, value] of samples()) this.inc(values, value);
    },
  };
}

interface HistogramOptions {
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

export interface SummaryValues {
  /** Values by quantile: 1 is the maximum. */
  readonly quantiles: readonly (readonly [quantile: number, value: number])[];
  /** The sum and the number of all values since the start. */
  readonly sum: number;
  readonly count: number;
}

/** Shows values of another object as a summary of the registry. */
export class SummaryFamily {
  constructor(
    registry: Registry,
    readonly name: string,
    private readonly help: string,
    private readonly values: () => SummaryValues,
  ) {
    // The registry uses only the name and `get` of a metric.
    registry.registerMetric(this as unknown as Metric);
  }

  get(): Promise<object> {
    const { name, help } = this;
    const { quantiles, sum, count } = this.values();
    const values: MetricValueWithName<string>[] = [
      ...quantiles.map(([quantile, value]) => ({ metricName: name, labels: { quantile }, value })),
      { metricName: `${name}_sum`, labels: {}, value: sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
    return Promise.resolve({ name, help, type: 'summary', aggregator: 'omit', values });
  }
}
