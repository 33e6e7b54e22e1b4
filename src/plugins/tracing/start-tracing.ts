import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type NodeTracerConfig,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { TracingConfig } from '../../plugin-api/core/config.js';
import { VERSION, withTimeout } from '../../plugin-api/core/common.js';
import { context, trace, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';

type Done = Parameters<SpanExporter['export']>[1];

const SUCCESS = 0;

/**
 * Reports once when spans cannot be sent, and once when spans are sent again. The SDK reports nothing and drops spans that
 * exceed its queue.
 */
export class ReportingExporter implements SpanExporter {
  private isUnavailable = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly onChange: (isUnavailable: boolean) => void,
  ) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      const isUnavailable = (result.code as number) !== SUCCESS;
      if (isUnavailable !== this.isUnavailable) this.onChange(isUnavailable);
      this.isUnavailable = isUnavailable;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }
}

type Resource = NonNullable<NodeTracerConfig['resource']>;

/**
 * Returns the description of this service for spans. The functions of the SDK are not used for two reasons: their package
 * is not re-exported by the SDK, and they read names from environment variables. In this service only src/config reads the
 * environment.
 */
function resourceOf({ serviceName, resourceAttributes }: TracingConfig): Resource {
  const attributes = {
    'service.version': VERSION,
    ...resourceAttributes,
    'service.name': serviceName,
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.language': 'nodejs',
    'process.pid': process.pid,
  };
  const resource: Resource = {
    attributes,
    getRawAttributes: () => Object.entries(attributes),
    merge: () => resource,
  };
  return resource;
}

/** The maximum time at shutdown to send the remaining spans. */
const FLUSH_MS = 2_000;

export interface RunningTracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans within a limited time. Never rejects. */
  stop(): Promise<void>;
}

/** Starts the SDK of OpenTelemetry. The packages are optional: import this file only when traces are enabled. */
export function startTracing(
  tracing: TracingConfig,
  onCollectorUnavailable: (isUnavailable: boolean) => void,
): RunningTracing {
  const exporter = new OTLPTraceExporter({ url: `${tracing.endpoint}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceOf(tracing),
    spanProcessors: [new BatchSpanProcessor(new ReportingExporter(exporter, onCollectorUnavailable))],
  });
  // This service reads and writes the trace headers itself: the SDK would also pass the baggage of a client on to
  // providers.
  provider.register({ propagator: null });
  return {
    tracer: provider.getTracer('chat-streaming-service', VERSION),
    stop: async () => {
      const stopped = provider.shutdown().catch(() => undefined);
      await withTimeout(stopped, FLUSH_MS, () => new Error('not sent in time')).catch(() => undefined);
      context.disable();
      trace.disable();
    },
  };
}
