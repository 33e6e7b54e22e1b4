import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ChatModule } from '../../plugin-api/core/chat.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { type Config, CONFIG, ConfigError } from '../../plugin-api/core/config.js';
import { AttemptFactory } from '../../plugin-api/core/upstreams.js';
import { RequestWatch } from '../../plugin-api/core/start.js';
import type { RunningTracing } from './start-tracing.js';

/** Starts traces if OTEL_EXPORTER_OTLP_ENDPOINT is set. Otherwise no package of OpenTelemetry is loaded. */
@Injectable()
class Tracing implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Tracing');
  private running: RunningTracing | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly watch: RequestWatch,
    private readonly attempts: AttemptFactory,
  ) {}

  /** @throws {ConfigError} when the SDK is not installed. */
  async onApplicationBootstrap(): Promise<void> {
    const { tracing } = this.config;
    if (tracing === undefined) return;
    const [{ startTracing }, { RequestSpans }, { AttemptSpans }] = await load();
    const { tracer } = (this.running = startTracing(tracing, (isUnavailable) => {
      this.reportCollector(isUnavailable);
    }));
    this.watch.runIn(new RequestSpans(tracer));
    this.attempts.tracer = new AttemptSpans(tracer);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.running?.stop();
  }

  private reportCollector(isUnavailable: boolean): void {
    if (isUnavailable)
      this.logger.warn(
        'Spans cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT: they are dropped until the collector is back',
      );
    else this.logger.log('Spans are sent again');
  }
}

async function load() {
  try {
    return await Promise.all([
      import('./start-tracing.js'),
      import('./request-spans.js'),
      import('./attempt-spans.js'),
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ConfigError([
      'OTEL_EXPORTER_OTLP_ENDPOINT: needs the packages @opentelemetry/sdk-trace-node and @opentelemetry/exporter-trace-otlp-http, which are not installed',
    ]);
  }
}

/** Traces of requests and of attempts at providers, which OpenTelemetry sends. */
@ChatPlugin({ name: 'tracing', compatibility: '^1', imports: [ChatModule], providers: [Tracing] })
export class TracingPlugin {}
