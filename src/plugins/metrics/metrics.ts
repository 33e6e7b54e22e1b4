import { Registry } from 'prom-client';
import { EventLoopDelay, registerProcess } from './families/process-families.js';
import { registerDurable, registerStores } from './families/store-families.js';
import type { MetricFamily } from '../../plugin-api/metrics.js';
import { registerPlugins } from './plugin-metrics.js';
import { registerRequests } from './families/request-families.js';
import { registerStreams, type StreamMetrics } from './families/stream-families.js';
import { registerUpstreams } from './families/upstream-families.js';
import type { MetricsSources } from './metrics-sources.js';

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
