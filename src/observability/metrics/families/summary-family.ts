import type { Metric, MetricValueWithName, Registry } from 'prom-client';

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
