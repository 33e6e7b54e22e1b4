import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { ScriptedProvider } from '../../../../src/testing/provider/scripted-provider.js';
import { AttemptContext } from '../../../../src/upstreams/completion/attempt-context.js';
import type { AttemptEnd } from '../../../../src/upstreams/completion/attempt.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import { UpstreamConnections } from '../../../../src/upstreams/transport/upstream-connections.js';

const upstream = { name: 'acme', timeouts: { connectMs: 1_000 } } as UpstreamConfig;
const OVER = providerFailure('upstream_error', 'HTTP 500');
const FAILED: AttemptEnd = { type: 'failed', failure: OVER };
const LATER = new Error('too late');

const contextOf = (connections = {} as UpstreamConnections) =>
  new AttemptContext('request-1', 'ada', undefined, upstream, connections);

describe('the signal of an attempt', () => {
  it('is one object, and aborts with the failure of the attempt', () => {
    const context = contextOf();
    const { signal } = context;
    expect([context.signal === signal, signal.aborted]).toEqual([true, false]);
    context.onEnd(FAILED);
    expect([context.signal === signal, signal.aborted, signal.reason]).toEqual([true, true, OVER]);
  });

  it('is aborted from the start when the attempt is over', () => {
    const context = contextOf();
    context.onEnd(FAILED);
    expect([context.signal.aborted, context.signal.reason]).toEqual([true, OVER]);
  });
});

describe('the fetch of an attempt', () => {
  let provider: ScriptedProvider;
  let connections: UpstreamConnections;
  let context: AttemptContext;

  beforeEach(async () => {
    provider = await ScriptedProvider.start();
    connections = new UpstreamConnections({ maxStreams: 1 } as Config, new ShedLoad());
    context = contextOf(connections);
  });
  afterEach(async () => {
    await connections.onApplicationShutdown();
    await provider.stop();
  });
  const ignore = () => undefined;

  it.each([
    ['', undefined],
    [', although the protocol has a signal of its own', new AbortController().signal],
  ])('ends with the attempt%s', async (_, signal) => {
    provider.answers(ignore);
    const answer = context.fetch(provider.origin, signal && { signal });
    const failed = expect(answer).rejects.toBe(OVER);
    const call = await provider.call(1);
    context.onEnd(FAILED);
    await failed;
    await call.over;
  });

  it('ends with the signal of the protocol', async () => {
    provider.answers(ignore);
    const own = new AbortController();
    const failed = expect(context.fetch(provider.origin, { signal: own.signal })).rejects.toBe(LATER);
    const call = await provider.call(1);
    own.abort(LATER);
    await failed;
    await call.over;
    expect(context.signal.aborted).toBe(false);
  });

  it('sends nothing after the end of the attempt', async () => {
    context.onEnd(FAILED);
    await expect(context.fetch(provider.origin)).rejects.toBe(OVER);
    expect(provider.connections).toBe(0);
  });
});
