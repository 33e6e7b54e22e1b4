import { context, trace, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../../common/version.js';
import type { TracingConfig } from '../../config/config.js';
import { ReportingExporter } from './reporting-exporter.js';
import { resourceOf } from './resource.js';

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
      await Promise.race([stopped, sleep(FLUSH_MS, undefined, { ref: false })]);
      context.disable();
      trace.disable();
    },
  };
}
