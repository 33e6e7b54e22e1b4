import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';

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
