import { Logger } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ModelConfig, RouteConfig, UpstreamConfig } from '../../../src/config/config.js';
import type { AttemptObserver, ObservedAttempt } from '../../../src/upstreams/completion/attempt-observer.js';
import { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import type { CompletionStream } from '../../../src/upstreams/completion/completion-stream.js';
import type { HttpProtocol, InProcessProtocol, Protocol } from '../../../src/upstreams/contract/protocol.js';
import type { CompletionPart } from '../../../src/upstreams/contract/stream-part.js';
import { ModelRouter } from '../../../src/upstreams/model-router.js';
import type { ProtocolRegistry } from '../../../src/upstreams/protocols/protocol-registry.js';
import { RouteStates } from '../../../src/upstreams/routing/route-states.js';
import type { UpstreamConnections } from '../../../src/upstreams/transport/upstream-connections.js';
import { UpstreamExchange } from '../../../src/upstreams/transport/upstream-exchange.js';
import { COMPLETE, InProcessProvider, text } from '../../support/in-process-provider.js';
import { PlayedConnection } from './played-connection.js';
import { MAX_EVENT_BYTES, REQUEST } from './played-source.js';

const HTTP: HttpProtocol = {
  transport: 'http',
  name: 'over-http',
  request: () => REQUEST,
  open: () => ({ parts: ({ data }) => [data === '[DONE]' ? COMPLETE : text(data)], end: () => [] }),
};

const timeouts = { connectMs: 1_000, firstTokenMs: 60_000, idleMs: 60_000 };
const request = { messages: [], maxTokens: 8, temperature: 0.5, accountId: 'account-1' };

afterEach(() => {
  vi.restoreAllMocks();
});

/** A router whose model has a route to each upstream, in the order of their names. */
class RoutedModel {
  readonly connection = new PlayedConnection();
  readonly trace = new CallTrace('request-1');
  readonly onOver = vi.fn<(failure?: unknown) => void>();
  readonly sentHeaders: unknown[] = [];
  readonly router: ModelRouter;
  private readonly routes: RouteConfig[];

  constructor(private readonly protocols: Readonly<Record<string, Protocol>>) {
    const ofName = ({ name }: Pick<UpstreamConfig, 'name'>) => ({
      protocol: this.protocols[name],
      upstream: { name, timeouts, maxEventBytes: MAX_EVENT_BYTES } as UpstreamConfig,
    });
    const send: UpstreamConnections['send'] = (_, sent, onChange) => {
      this.sentHeaders.push(sent.headers);
      return new UpstreamExchange(this.connection, sent, onChange);
    };
    this.router = new ModelRouter(
      { of: ofName } as unknown as ProtocolRegistry,
      { send } as UpstreamConnections,
      new RouteStates(),
    );
    this.routes = Object.keys(protocols).map((name, priority) => ({
      ...{ upstream: { name } as UpstreamConfig, model: 'fast', temperature: true },
      ...{ priority, weight: 1 },
    }));
  }

  stream(): CompletionStream {
    const model = { id: 'acme/fast', routes: this.routes, sticky: false } as unknown as ModelConfig;
    return this.router.stream(model, request, this.trace, this.onOver);
  }
}

/** Notes where each attempt began, and adds a header to it. */
class NotingObserver implements AttemptObserver {
  readonly begun: unknown[] = [];
  readonly end = vi.fn<ObservedAttempt['end']>();

  constructor(private readonly place: AsyncLocalStorage<string>) {}

  begin: AttemptObserver['begin'] = ({ upstream }, route, call) => {
    this.begun.push([upstream, route.model, call.model, this.place.getStore()]);
    return { headers: { traceparent: `of ${upstream}` }, end: this.end };
  };
}

async function partsOf(stream: CompletionStream): Promise<CompletionPart[]> {
  const parts: CompletionPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe('the router of a model', () => {
  it('reads an answer in this process without a connection', async () => {
    const provider: InProcessProtocol = new InProcessProvider();
    const routed = new RoutedModel({ acme: provider });
    expect(await partsOf(routed.stream())).toEqual([text('acme')]);
    expect([routed.sentHeaders, routed.connection.sent, routed.onOver.mock.calls]).toEqual([[], [], [[undefined]]]);
  });

  it('reads an answer over HTTP, with no header of its own when nobody observes', async () => {
    const routed = new RoutedModel({ acme: HTTP });
    const stream = routed.stream();
    routed.connection.head().data('data: Hi\n\ndata: [DONE]\n\n').end();
    expect(await partsOf(stream)).toEqual([text('Hi')]);
    expect([routed.sentHeaders, routed.onOver.mock.calls]).toEqual([[REQUEST.headers], [[undefined]]]);
  });

  it('tells its observer of each attempt, where the request is, even when a later one begins in the call of a connection', async () => {
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const place = new AsyncLocalStorage<string>();
    const observer = new NotingObserver(place);
    const routed = new RoutedModel({ first: HTTP, second: new InProcessProvider() });
    routed.router.observe(observer);
    const stream = place.run('in the request', () => routed.stream());
    expect(routed.sentHeaders).toEqual([{ ...REQUEST.headers, traceparent: 'of first' }]);
    await place.run('in the connection', async () => {
      routed.connection.head(503, {}).end();
      expect(await partsOf(stream)).toEqual([text('second')]);
    });
    expect(observer.begun).toEqual([
      ['first', 'fast', 'fast', 'in the request'],
      ['second', 'fast', 'fast', 'in the request'],
    ]);
    expect(observer.end.mock.calls).toEqual([[routed.trace], [routed.trace]]);
  });
});
