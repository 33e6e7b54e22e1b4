import type { Attributes, Span, Tracer } from '@opentelemetry/api';

/** Records the attributes and the statuses of its spans. */
export function recordingTracer() {
  const attributes: Record<string, unknown> = {};
  const statuses: number[] = [];
  const span = {
    spanContext: () => ({ traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', traceFlags: 1 }),
    setAttribute: (name: string, value: unknown) => (attributes[name] = value),
    setStatus: ({ code }: { code: number }) => statuses.push(code),
    updateName: () => undefined,
    end: () => undefined,
  } as unknown as Span;
  const startSpan = (_: string, options?: { attributes?: Attributes }) => {
    Object.assign(attributes, options?.attributes);
    return span;
  };
  return { tracer: { startSpan } as unknown as Tracer, attributes, statuses };
}
