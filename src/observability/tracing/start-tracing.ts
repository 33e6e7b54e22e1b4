import { context, trace, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../../common/version.js';
import type { TracingConfig } from '../../config/config.js';
import { ReportingExporter } from './reporting-exporter.js';
import { resourceOf } from './resource.js';

/** For the spans that were not sent yet, at shutdown. */
const FLUSH_MS = 2_000;

export interface RunningTracing {
  readonly tracer: Tracer;
  /** Sends what is not sent yet, within a bounded time. Never rejects. */
  stop(): Promise<void>;
}

/** Starts OpenTelemetry's SDK. The packages are optional: import this file only where traces are on. */
export function startTracing(
  { endpoint, serviceName }: TracingConfig,
  onCollectorAway: (isAway: boolean) => void,
): RunningTracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceOf(serviceName),
    spanProcessors: [new BatchSpanProcessor(new ReportingExporter(exporter, onCollectorAway))],
  });
  // What comes in and goes out is read and written here: the SDK would pass a client's baggage on to vendors.
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
