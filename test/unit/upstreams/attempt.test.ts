import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { RouteConfig, UpstreamConfig } from '../../../src/config/config.js';
import { AttemptAccount } from '../../../src/upstreams/completion/attempt-account.js';
import { AttemptContext } from '../../../src/upstreams/completion/attempt-context.js';
import { Attempt } from '../../../src/upstreams/completion/attempt.js';
import { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import { CompletionStream } from '../../../src/upstreams/completion/completion-stream.js';
import type { PartCollector } from '../../../src/upstreams/completion/part-collector.js';
import type { PartSource } from '../../../src/upstreams/completion/part-source.js';
import { providerFailure } from '../../../src/upstreams/contract/provider-failure.js';
import { RouteStates } from '../../../src/upstreams/routing/route-states.js';
import type { UpstreamConnections } from '../../../src/upstreams/transport/upstream-connections.js';
import { waitFor } from '../../support/wait-for.js';

const FAILURES_TO_OPEN = 5;
const upstream = {
  name: 'acme',
  timeouts: { connectMs: 60_000, firstTokenMs: 60_000, idleMs: 60_000 },
} as UpstreamConfig;
const route: RouteConfig = { upstream, model: 'fast', temperature: true, priority: 1, weight: 1 };
const TIMED_OUT = providerFailure('upstream_timeout', 'nothing came');

/** A source that brings what the test tells it to bring. */
class ScriptedSource implements PartSource {
  isAccepted = false;
  readonly isRefused = false;
  readonly closedWith: Error[] = [];
  finished = 0;
  private readonly steps: ((collector: PartCollector) => void)[] = [];

  constructor(
    private readonly collector: PartCollector,
    private readonly onChange: () => void,
  ) {}

  bring(step: (collector: PartCollector) => void): void {
    this.steps.push(step);
    this.onChange();
  }

  read(): boolean {
    const step = this.steps.shift();
    step?.(this.collector);
    return step !== undefined;
  }

  close(reason: Error): void {
    this.closedWith.push(reason);
  }

  finish(): void {
    this.finished += 1;
  }
}

describe('an attempt', () => {
  let states: RouteStates;
  let sources: ScriptedSource[];
  let trace: CallTrace;
  let warn: Mock;
  let onOver: Mock;

  beforeEach(() => {
    states = new RouteStates();
    sources = [];
    warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined) as Mock;
    onOver = vi.fn();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  function open({ routes = 1, timeouts = upstream.timeouts } = {}): CompletionStream {
    trace = new CallTrace('request-1');
    const begin = (_: RouteConfig, onChange: () => void): Attempt => {
      const attempt = trace.beginAttempt(upstream.name);
      const context = new AttemptContext('request-1', 'ada', undefined, upstream, {} as UpstreamConnections);
      return new Attempt(
        (collector, changed) => {
          const source = new ScriptedSource(collector, changed);
          sources.push(source);
          return source;
        },
        timeouts,
        trace,
        new AttemptAccount('acme/fast', route, trace, attempt, states.of(route).begin(), context, undefined),
        onChange,
      );
    };
    return new CompletionStream(Array.from({ length: routes }, () => route).values(), begin, onOver);
  }
  const source = (number = 1): ScriptedSource => sources[number - 1] as ScriptedSource;
  const failures = () => warn.mock.calls.filter(([entry]) => (entry as { msg: string }).msg === 'An upstream failed');
  const fail = (collector: PartCollector) => {
    collector.fail(providerFailure('upstream_error', 'HTTP 500'));
  };

  /** The provider accepts, the headers are sent, and only then the provider fails. */
  async function failAfterHeaders(): Promise<CompletionStream> {
    const completion = open();
    const current = sources.at(-1) as ScriptedSource;
    current.bring(() => {
      current.isAccepted = true;
    });
    await completion.accepted;
    completion.onReadable = () => {
      expect(() => completion.read()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
    };
    current.bring(fail);
    return completion;
  }

  it('that fails after the headers and before the first text tells it once', async () => {
    const completion = await failAfterHeaders();

    expect(completion.isOver).toBe(true);
    expect(completion.read()).toBeUndefined();
    await expect(completion.begun).rejects.toMatchObject({ code: 'upstream_error' });
    expect(failures()).toHaveLength(1);
    expect(failures()[0]).toEqual([
      expect.objectContaining({ requestId: 'request-1', upstream: 'acme', code: 'upstream_error', reason: 'HTTP 500' }),
    ]);
    expect(onOver).toHaveBeenCalledTimes(1);
    expect(source().closedWith).toHaveLength(1);
  });

  it('that fails after the headers and before the first text counts once for its route', async () => {
    for (let count = 1; count < FAILURES_TO_OPEN; count++) await failAfterHeaders();
    expect(states.of(route).route.state).toBe('closed');
    await failAfterHeaders();
    expect(states.of(route).route.state).toBe('open');
  });

  it('that fails before the first text is followed by the next, and both are counted once', async () => {
    const completion = open({ routes: 2 });
    source().bring(fail);
    source(2).bring((collector) => {
      collector.add({ type: 'text', text: 'Hi' });
      collector.add({ type: 'complete', last: true });
    });
    await completion.begun;

    expect(completion.read()).toEqual({ type: 'text', text: 'Hi' });
    expect(completion.read()).toBeUndefined();
    expect(completion.isOver).toBe(true);
    expect(onOver.mock.calls).toEqual([[undefined]]);
    expect(failures()).toHaveLength(1);
    expect(trace.attempts.map(({ code }) => code)).toEqual(['upstream_error', undefined]);
    expect(source(2)).toMatchObject({ finished: 1, closedWith: [] });
    expect(states.of(route).inFlight).toBe(0);
  });

  it('drops what it sent before its first text when it fails', async () => {
    const completion = open({ routes: 2 });
    source().bring((collector) => {
      collector.add({ type: 'usage', usage: { inputTokens: 99 } });
    });
    source().bring(fail);
    source(2).bring((collector) => {
      collector.add({ type: 'text', text: 'Hi' });
    });
    await completion.begun;

    expect(completion.read()).toEqual({ type: 'text', text: 'Hi' });
    expect(trace.usage).toEqual({});
    completion.stop(new Error('The test is over.'));
  });

  it('that fails after its first text is not followed by another, and gives its text first', async () => {
    const completion = open({ routes: 2 });
    source().bring((collector) => {
      collector.add({ type: 'text', text: 'Hi' });
      fail(collector);
    });
    await completion.begun;

    expect(completion.read()).toEqual({ type: 'text', text: 'Hi' });
    expect(() => completion.read()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
    expect(completion.read()).toBeUndefined();
    expect(sources).toHaveLength(1);
    expect(onOver).toHaveBeenCalledTimes(1);
  });

  it('that brings nothing in time closes its source and counts as slow', async () => {
    const completion = open({ timeouts: { ...upstream.timeouts, firstTokenMs: 20 } });
    // As HttpSource and InProcessSource do: the next read fails with the reason.
    source().close = (reason) => {
      source().closedWith.push(reason);
      source().read = () => {
        throw reason;
      };
    };

    await expect(completion.begun).rejects.toMatchObject({ code: TIMED_OUT.code });

    expect(failures()).toHaveLength(1);
    expect(source().closedWith[0]).toMatchObject({ code: 'upstream_timeout' });
    await waitFor(() => states.of(route).inFlight === 0, 'the attempt to be over');
  });

  it('that is stopped tells nothing about its route', () => {
    const completion = open();
    const reason = new Error('The client has left.');
    completion.stop(reason);

    expect(() => completion.read()).toThrow(reason);
    expect(source().closedWith).toEqual([reason]);
    expect(failures()).toEqual([]);
    expect(onOver.mock.calls).toEqual([[reason]]);
    expect(states.of(route)).toMatchObject({ inFlight: 0, waitMs: 0 });
  });
});
