import { Registry } from 'prom-client';
import type { MetricFamily, MetricsProvider } from '../../plugin-api/metrics.js';
import { counter, gauge, HistogramFamily } from './families/metric-types.js';
import { EventLoopDelay, registerProcess, registerRequests } from './families/process-families.js';
import { registerDurable, registerStores } from './families/store-families.js';
import { registerStreams, type StreamMetrics } from './families/stream-families.js';
import { registerUpstreams } from './families/upstream-families.js';
import type { MetricsSources } from './metrics-sources.js';

const NAME = /^[a-z][a-z0-9_]*$/;
const OF_THE_SERVICE = /^(?:chat|process|nodejs)_/;

/** @throws {Error} when a name is invalid, belongs to the service, or appears twice. */
export function checkedFamilies(providers: readonly MetricsProvider[]): readonly MetricFamily[] {
  const families = providers.flatMap((provider) => provider.families);
  const names = new Set<string>();
  for (const { name } of families) {
    if (!NAME.test(name) || OF_THE_SERVICE.test(name) || names.has(name)) {
      throw new Error(`The metric "${name}" of a plugin needs a name of its own, such as acme_prompts_total.`);
    }
    names.add(name);
  }
  return families;
}

/** Registers the metrics of plugins. */
export function registerPlugins(registry: Registry, families: readonly MetricFamily[]): void {
  for (const family of families) {
    switch (family.type) {
      case 'counter':
        counter<string>(registry, { ...family, samples: () => family.samples() });
        break;
      case 'gauge':
        gauge<string>(registry, { ...family, samples: () => family.samples() });
        break;
      case 'histogram':
        new HistogramFamily(registry, { divisor: 1, ...family, buckets: () => family.buckets() });
        break;
    }
  }
}

/**
 * Provides all values of `/metrics`. Requests and streams only increase simple counters of this service. The families of
 * the registry read these counters at a scrape. No label contains text of a client or identifies a client.
 */
export class Metrics {
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly delay = new EventLoopDelay();

  constructor(sources: MetricsSources, streams: StreamMetrics, ofPlugins: readonly MetricFamily[]) {
    const { requests, routes, latencies, durable } = sources;
    this.contentType = this.registry.contentType;
    registerRequests(this.registry, requests);
    registerStreams(this.registry, streams, latencies);
    if (durable !== undefined) registerDurable(this.registry, durable);
    registerUpstreams(this.registry, streams, routes);
    registerStores(this.registry, sources);
    registerProcess(this.registry, sources, this.delay);
    registerPlugins(this.registry, ofPlugins);
  }

  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  stop(): void {
    this.delay.stop();
  }
}
