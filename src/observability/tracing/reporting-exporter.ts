import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

type Done = Parameters<SpanExporter['export']>[1];

const SUCCESS = 0;

/**
 * Reports once when spans cannot be sent, and once when spans are sent again. The SDK reports nothing and drops spans that
 * exceed its queue.
 */
export class ReportingExporter implements SpanExporter {
  private isAway = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly onChange: (isAway: boolean) => void,
  ) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      const isAway = (result.code as number) !== SUCCESS;
      if (isAway !== this.isAway) this.onChange(isAway);
      this.isAway = isAway;
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
