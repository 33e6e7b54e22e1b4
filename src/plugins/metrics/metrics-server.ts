import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Extensions, ServiceError, startTimer } from '../../plugin-api/core/common.js';
import { ConfigError, listenProblem } from '../../plugin-api/core/config.js';
import { beginContext, logAcceptFailures, sendError, toServiceError } from '../../plugin-api/core/http.js';
import { StreamMetrics } from './families/stream-families.js';
import { type Metrics, checkedFamilies } from './metrics.js';
import { MetricsSources } from './metrics-sources.js';
import { METRICS_PROVIDERS, type MetricsAddress } from '../../plugin-api/metrics.js';

const LINGER_MS = 1_000;

/**
 * Serves `/metrics` on a separate port, if METRICS_PORT is set. The server stops last, so that the shutdown of the process
 * is still visible.
 */
@Injectable()
export class MetricsServer implements MetricsAddress, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Metrics');
  private metrics: Metrics | undefined;
  private server: Server | undefined;

  constructor(
    private readonly sources: MetricsSources,
    private readonly streams: StreamMetrics,
    private readonly extensions: Extensions,
  ) {}

  get origin(): string {
    const listening = this.server?.address() as AddressInfo | null | undefined;
    if (!listening) throw new Error('The metrics have no port: METRICS_PORT is not set.');
    const { address, family, port } = listening;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** @throws {ConfigError} when the server cannot listen. */
  async onApplicationBootstrap(): Promise<void> {
    const { config, latencies, ledger } = this.sources;
    const ofPlugins = checkedFamilies(this.extensions.of(METRICS_PROVIDERS));
    if (config.metricsPort === undefined) return;
    // Import the library only when metrics are enabled.
    const { Metrics } = await import('./metrics.js');
    const metrics = (this.metrics = new Metrics(this.sources, this.streams, ofPlugins));
    latencies.count();
    ledger.listen((record) => {
      this.streams.record(record);
    });
    await this.listen(metrics, config.host, config.metricsPort);
  }

  async onApplicationShutdown(): Promise<void> {
    this.metrics?.stop();
    const { server } = this;
    if (!server?.listening) return;
    const closed = once(server, 'close');
    server.close();
    const deadline = startTimer(() => {
      server.closeAllConnections();
    }, LINGER_MS);
    await closed;
    clearTimeout(deadline);
  }

  private async listen(metrics: Metrics, host: string, port: number): Promise<void> {
    const server = (this.server = createServer((request, response) => void respond(metrics, request, response)));
    logAcceptFailures(server);
    try {
      await once(server.listen(port, host), 'listening');
    } catch (error) {
      throw new ConfigError([listenProblem('METRICS_PORT', (error as NodeJS.ErrnoException).code, host, port)]);
    }
    this.logger.log(`Metrics at ${this.origin}/metrics`);
  }
}

async function respond(metrics: Metrics, request: IncomingMessage, response: ServerResponse): Promise<void> {
  beginContext(request, response);
  try {
    const isScrape = request.url?.split('?', 1)[0] === '/metrics' && ['GET', 'HEAD'].includes(request.method ?? '');
    if (!isScrape) throw new ServiceError('not_found', 'This port serves only /metrics.');
    const body = Buffer.from(await metrics.text());
    response.writeHead(200, { 'Content-Type': metrics.contentType, 'Content-Length': body.length });
    response.end(body);
  } catch (error) {
    sendError(toServiceError(error), response);
  }
}
