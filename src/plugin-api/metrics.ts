import type { Histogram } from '../platform/common/counts/counters.js';
import { ExtensionPoint } from '../platform/common/extensions/extensions.js';

/** The labels and the value of one series. */
type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: number];

interface Family {
  /** Such as `acme_prompts_total`. Not with the prefix `chat_`, which the service uses. */
  readonly name: string;
  readonly help: string;
}

/** A family of counters or gauges. */
interface SampledFamily extends Family {
  readonly type: 'counter' | 'gauge';
  /** The names of the labels. Their values must be few, and must not contain text of clients. */
  readonly labels?: readonly string[];
  /** Called at each scrape. A counter never falls. */
  samples(): Iterable<MetricSample>;
}

/** A family of histograms with one label. */
interface HistogramFamilySource extends Family {
  readonly type: 'histogram';
  readonly label: string;
  /** The histograms by value of the label. Called at each scrape. */
  buckets(): Iterable<readonly [string, Histogram]>;
  /** The number of units of the buckets in one unit of the metric, such as 1000 for milliseconds in seconds. Default: 1. */
  readonly divisor?: number;
}

/**
 * A metric of a plugin: a counter, a gauge, or a histogram with one label.
 *
 * @experimental
 * @since 1.0
 */
export type MetricFamily = SampledFamily | HistogramFamilySource;

/**
 * Provides metrics of a plugin. The plugin counts in its own objects, such as a `Map` or a `Histogram`. The service reads them
 * at each scrape.
 *
 * @experimental
 * @since 1.0
 */
export interface MetricsProvider {
  readonly families: readonly MetricFamily[];
}

export const METRICS_PROVIDERS = new ExtensionPoint<MetricsProvider>('metrics');

/** Where the plugin of the metrics serves `/metrics`, for the test kit. */
export abstract class MetricsAddress {
  /** The scheme, host and port. Throws an error while the server does not listen. */
  abstract readonly origin: string;
}
