import { vi } from 'vitest';
import type { UpstreamConfig } from '../../../src/platform/config/config.js';
import type { AttemptContext } from '../../../src/upstreams/completion/attempt-context.js';
import { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import { HttpSource } from '../../../src/upstreams/completion/http-source.js';
import { PartCollector } from '../../../src/upstreams/completion/part-collector.js';
import type { ChatCall } from '../../../src/upstreams/contract/chat-call.js';
import type { ProviderEvent } from '../../../src/upstreams/contract/framing.js';
import type { HttpProtocol, UpstreamRequest } from '../../../src/upstreams/contract/protocol.js';
import { providerFailure } from '../../../src/upstreams/contract/provider-failure.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import type { UpstreamConnections } from '../../../src/upstreams/transport/upstream-connections.js';
import { UpstreamExchange } from '../../../src/upstreams/transport/upstream-exchange.js';
import { PlayedConnection } from './played-connection.js';

export const MAX_EVENT_BYTES = 100;
export const upstream = { name: 'acme', maxEventBytes: MAX_EVENT_BYTES } as UpstreamConfig;
export const FAILED = providerFailure('upstream_unavailable', 'overloaded');
export const REQUEST: UpstreamRequest = {
  url: new URL('http://acme.test/v1/chat?beta=true'),
  headers: { authorization: 'Bearer key', traceparent: 'of the protocol' },
  body: '{}',
};

/** The data of the events that are no text. */
const PARTS: Record<string, StreamPart[]> = {
  complete: [{ type: 'complete', last: false }],
  last: [{ type: 'complete', last: true }],
  failed: [{ type: 'error', error: FAILED }],
};

export const event = (data: string) => `data: ${data}\n\n`;
export const turn = () => new Promise(setImmediate);

interface Changes extends Partial<HttpProtocol> {
  /** The connections to use, in order. */
  readonly lines?: PlayedConnection[];
  /** The headers of the attempt. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly send?: UpstreamConnections['send'];
}

/** A source over HTTP whose provider the test plays. */
export class PlayedSource {
  readonly onChange = vi.fn<() => void>();
  /** The `end` of the reader of the protocol. */
  readonly end = vi.fn<() => readonly StreamPart[]>(() => []);
  readonly collector = new PartCollector(new CallTrace('request-1'));
  readonly send;
  readonly source: HttpSource;
  readonly onSentAgain = vi.fn();
  /** The first connection. */
  readonly line: PlayedConnection;

  constructor({ lines = [new PlayedConnection()], headers, send, ...changes }: Changes = {}) {
    this.line = lines[0] as PlayedConnection;
    const left = lines.values();
    this.send = vi.fn<UpstreamConnections['send']>(
      send ?? ((_, request, changed) => new UpstreamExchange(left.next().value as PlayedConnection, request, changed)),
    );
    const protocol: HttpProtocol = {
      transport: 'http',
      name: 'plain',
      request: () => REQUEST,
      open: () => ({ parts: partsOf, end: this.end }),
      ...changes,
    };
    this.source = new HttpSource(
      protocol,
      {} as ChatCall,
      upstream,
      { send: this.send } as Partial<UpstreamConnections> as UpstreamConnections,
      { headers } as AttemptContext,
      this.collector,
      this.onChange,
      this.onSentAgain,
    );
  }

  readonly readAll = (): void => {
    while (this.collector.state.isOpen && this.source.read());
  };
}

function partsOf({ data }: ProviderEvent): readonly StreamPart[] {
  if (data === 'bug') throw new TypeError('a bug');
  return PARTS[data] ?? [{ type: 'text', text: data }];
}
