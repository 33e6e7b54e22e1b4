import { Registry } from 'prom-client';
import { EventLoopDelay } from './event-loop-delay.js';
import { registerProcess } from './families/process-families.js';
import { registerRequests } from './families/request-families.js';
import { registerStores } from './families/store-families.js';
import { registerStreams } from './families/stream-families.js';
import { registerUpstreams } from './families/upstream-families.js';
import type { MetricsSources } from './metrics-sources.js';
import { RequestFigures } from './request-figures.js';
import { StreamFigures } from './stream-figures.js';

/**
 * All that `/metrics` shows. What is told at each request or stream only counts, in figures of our own; the families of the
 * registry read them at a scrape. No label holds what a client wrote, or who it is.
 */
export class Metrics {
  readonly requests = new RequestFigures();
  readonly streams: StreamFigures;
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly delay = new EventLoopDelay();

  constructor(sources: MetricsSources) {
    const { config, breakers, gaps } = sources;
    this.contentType = this.registry.contentType;
    this.streams = new StreamFigures(config.upstreams.keys());
    registerRequests(this.registry, this.requests);
    registerStreams(this.registry, this.streams, gaps);
    registerUpstreams(this.registry, this.streams, (name) => breakers.of({ name }).state);
    registerStores(this.registry, sources);
    registerProcess(this.registry, sources, this.delay);
  }

  /** In the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  stop(): void {
    this.delay.stop();
  }
}
