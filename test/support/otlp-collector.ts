import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from './wait-for.js';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: OtlpAttributes;
  readonly status: { readonly code: number };
}

interface OtlpExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpAttributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export interface ReceivedSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector for OTLP over HTTP with JSON. It keeps all spans that it receives. */
export class OtlpCollector {
  readonly paths: string[] = [];
  /** The unchanged text of all received request bodies. */
  raw = '';
  readonly spans: ReceivedSpan[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void text(request).then(
        (body) => {
          this.paths.push(request.url ?? '');
          this.raw += body;
          this.keep(JSON.parse(body) as OtlpExport);
          response.setHeader('content-type', 'application/json').end('{}');
        },
        // The connection was lost.
        () => undefined,
      );
    });
  }

  static async start(): Promise<OtlpCollector> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OtlpCollector(server);
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async until(what: string, isMeant: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    return waitFor(() => this.spans.find(isMeant), `a span: ${what}`, 20_000);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private keep({ resourceSpans }: OtlpExport): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          ...span,
          attributes: plain(span.attributes),
          resource: plain(resource.attributes),
        });
      }
    }
  }
}

function plain(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: OtlpValue): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(valueOf);
  return value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue;
}
