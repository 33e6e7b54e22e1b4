import { Logger } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { ModelConfig, RouteConfig, UpstreamConfig } from '../../../../src/platform/config/config.js';
import type { AttemptEnd, AttemptTracer } from '../../../../src/upstreams/completion/attempt.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import type { HttpProtocol, Protocol } from '../../../../src/upstreams/contract/protocol.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';
import type { ProtocolRegistry } from '../../../../src/upstreams/protocols/protocol-registry.js';
import { AttemptFactory } from '../../../../src/upstreams/routing/attempt-factory.js';
import type { FailoverStream } from '../../../../src/upstreams/routing/failover-stream.js';
import { ModelRouter } from '../../../../src/upstreams/routing/model-router.js';
import type { RouteState } from '../../../../src/upstreams/routing/route-state.js';
import { RouteStates } from '../../../../src/upstreams/routing/route-states.js';
import type { UpstreamConnections } from '../../../../src/upstreams/transport/upstream-connections.js';
import { UpstreamExchange } from '../../../../src/upstreams/transport/upstream-exchange.js';
import { COMPLETE, InProcessProvider, text } from '../../../support/in-process-provider.js';
import { PlayedConnection } from '../played-connection.js';
import { MAX_EVENT_BYTES, REQUEST } from '../played-source.js';

const HTTP: HttpProtocol = {
  transport: 'http',
  name: 'over-http',
  request: () => REQUEST,
  open: () => ({ parts: ({ data }) => [data === '[DONE]' ? COMPLETE : text(data)], end: () => [] }),
};

const FAILURES_TO_OPEN = 5;
const timeouts = { connectMs: 1_000, firstTokenMs: 60_000, idleMs: 60_000 };
const request = { messages: [], maxTokens: 8, options: { temperature: 0.5 }, accountId: 'account-1' };

afterEach(() => {
  vi.restoreAllMocks();
});

/** A router whose model has a route to each upstream, in the order of their names. */
class RoutedModel {
  readonly connection = new PlayedConnection();
  readonly onOver = vi.fn<(failure?: unknown) => void>();
  readonly sentHeaders: unknown[] = [];
  readonly states = new RouteStates();
  readonly attempts: AttemptFactory;
  trace = new CallTrace('request-1');
  private readonly router: ModelRouter;
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
    const registry = { of: ofName } as unknown as ProtocolRegistry;
    this.attempts = new AttemptFactory(registry, { send } as UpstreamConnections, this.states);
    this.router = new ModelRouter(this.attempts, registry, this.states);
    this.routes = Object.keys(protocols).map((name, priority) => ({
      ...{ upstream: { name } as UpstreamConfig, model: 'fast', unsupportedOptions: [] },
      ...{ priority, weight: 1 },
    }));
  }

  stream(): FailoverStream {
    this.trace = new CallTrace('request-1');
    const model = { id: 'acme/fast', routes: this.routes, sticky: false } as unknown as ModelConfig;
    return this.router.stream(model, request, this.trace, this.onOver);
  }

  /** The state of the route to the first upstream. */
  get state(): RouteState {
    return this.states.of(this.routes[0] as RouteConfig);
  }
}

/** Records where each attempt began, and adds a header to it. */
class FakeTracer implements AttemptTracer {
  readonly started: unknown[] = [];
  readonly onEnd = vi.fn<(end: AttemptEnd) => void>();

  constructor(private readonly place: AsyncLocalStorage<string>) {}

  begin: AttemptTracer['begin'] = ({ upstream }, trace, route, call) => {
    this.started.push([upstream, trace.requestId, route.model, call.model, this.place.getStore()]);
    return { headers: { traceparent: `of ${upstream}` }, onEnd: this.onEnd };
  };
}

async function partsOf(stream: FailoverStream): Promise<CompletionPart[]> {
  const parts: CompletionPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe('the router of a model', () => {
  let warn: Mock;

  beforeEach(() => {
    warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue() as Mock;
  });

  const failures = () => warn.mock.calls.filter(([entry]) => (entry as { msg: string }).msg === 'An upstream failed');

  it('reads an answer in this process without a connection', async () => {
    const routed = new RoutedModel({ acme: new InProcessProvider() });
    expect(await partsOf(routed.stream())).toEqual([text('acme')]);
    expect([routed.sentHeaders, routed.connection.sent, routed.onOver.mock.calls]).toEqual([[], [], [[undefined]]]);
  });

  it('reads an answer over HTTP, and adds no header when the service is not traced', async () => {
    const routed = new RoutedModel({ acme: HTTP });
    const stream = routed.stream();
    routed.connection.head().data('data: Hi\n\ndata: [DONE]\n\n').end();
    expect(await partsOf(stream)).toEqual([text('Hi')]);
    expect([routed.sentHeaders, routed.onOver.mock.calls]).toEqual([[REQUEST.headers], [[undefined]]]);
  });

  it('creates one span for each attempt in the context of the request, also in a callback of a connection', async () => {
    const place = new AsyncLocalStorage<string>();
    const tracer = new FakeTracer(place);
    const routed = new RoutedModel({ first: HTTP, second: new InProcessProvider() });
    routed.attempts.tracer = tracer;
    const stream = place.run('in the request', () => routed.stream());
    expect(routed.sentHeaders).toEqual([{ ...REQUEST.headers, traceparent: 'of first' }]);
    await place.run('in the connection', async () => {
      routed.connection.head(503, {}).end();
      expect(await partsOf(stream)).toEqual([text('second')]);
    });
    expect(tracer.started).toEqual([
      ['first', 'request-1', 'fast', 'fast', 'in the request'],
      ['second', 'request-1', 'fast', 'fast', 'in the request'],
    ]);
    expect(tracer.onEnd.mock.calls).toEqual([[expect.objectContaining({ type: 'failed' })], [{ type: 'complete' }]]);
  });

  it('records an attempt that fails before its first text once: in the log, the trace and the state of its route', async () => {
    const routed = new RoutedModel({ first: HTTP, second: new InProcessProvider() });
    const stream = routed.stream();
    routed.connection.head(500, {}).end();
    expect(await partsOf(stream)).toEqual([text('second')]);
    expect(routed.trace.attempts.map(({ upstream, code }) => [upstream, code])).toEqual([
      ['first', 'upstream_error'],
      ['second', undefined],
    ]);
    expect(failures()).toEqual([[expect.objectContaining({ model: 'acme/fast', upstream: 'first' })]]);
    expect([routed.state.inFlight, routed.onOver.mock.calls]).toEqual([0, [[undefined]]]);
  });

  it('counts an attempt that fails after the headers and before the first text once', async () => {
    const routed = new RoutedModel({ acme: HTTP });
    for (let count = 1; count <= FAILURES_TO_OPEN; count++) {
      expect(routed.state.route.state).toBe('closed');
      const stream = routed.stream();
      routed.connection.head();
      await stream.accepted;
      routed.connection.breaks();
      await expect(stream.started).rejects.toMatchObject({ code: 'upstream_error' });
      expect(() => stream.read()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
      expect([failures().length, routed.onOver.mock.calls.length]).toEqual([count, count]);
    }
    expect(routed.state.route.state).toBe('open');
  });

  it('records nothing about the route of an attempt that is stopped', () => {
    const routed = new RoutedModel({ acme: HTTP });
    const stream = routed.stream();
    const reason = new Error('The client has left.');
    stream.stop(reason);
    expect(() => stream.read()).toThrow(reason);
    expect([failures(), routed.onOver.mock.calls]).toEqual([[], [[reason]]]);
    expect(routed.state).toMatchObject({ inFlight: 0, waitMs: 0 });
    expect(routed.trace.attempts).toMatchObject([{ code: undefined, firstTextMs: undefined }]);
  });
});
