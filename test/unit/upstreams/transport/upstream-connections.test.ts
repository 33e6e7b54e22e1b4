import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceError } from '../../../../src/platform/common/service-error.js';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { UpstreamConnections } from '../../../../src/upstreams/transport/upstream-connections.js';
import type { UpstreamRequest } from '../../../../src/upstreams/contract/protocol.js';
import { ConnectionPool } from '../../../../src/upstreams/transport/connection-pool.js';
import type { ProviderCall } from '../../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../../src/testing/provider/scripted-provider.js';
import { waitFor } from '../../../support/wait-for.js';
import { turn } from '../played-connection.js';

describe('connections to upstreams', () => {
  let provider: ScriptedProvider;
  let shedLoad: ShedLoad;
  let connections: UpstreamConnections;

  beforeEach(async () => {
    provider = await ScriptedProvider.start();
    shedLoad = new ShedLoad();
    connections = new UpstreamConnections({ maxStreams: 2 } as Config, shedLoad);
  });
  afterEach(async () => {
    await connections.onApplicationShutdown();
    await provider.stop();
  });

  const upstream = (name: string) => ({ name, timeouts: { connectMs: 1_000 } }) as UpstreamConfig;
  const send = (name = 'acme', changes: Partial<UpstreamRequest> = {}, fresh?: boolean) =>
    connections.send(
      upstream(name),
      { url: new URL(provider.origin), headers: {}, body: '{}', ...changes },
      () => undefined,
      fresh,
    );
  const refusals = () => new Map(shedLoad.counts).get('upstream_connections');

  it('are refused beyond the limit, over all upstreams', () => {
    provider.answers(() => undefined);
    send();
    send('backup');
    let refusal: unknown;
    try {
      send('spare');
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({
      code: 'unavailable',
      message: 'This process has as many connections to upstreams as it can hold. Try again.',
      retryAfterSeconds: 5,
    } satisfies Partial<ServiceError>);
    expect(refusals()).toBe(1);
  });

  it('give way when they are idle, or when their answers are whole', async () => {
    const answered = send();
    await waitFor(() => answered.head, 'the head');
    await waitFor(() => (answered.take() === undefined ? answered.isOver : false), 'the answer');
    provider.answers((call) => {
      call.head();
    });
    const open = send('backup');
    await waitFor(() => open.head, 'the head');
    open.finish(60_000);

    send('spare');
    send('more');

    expect(refusals()).toBe(0);
    expect(() => send('another')).toThrow();
  });

  it('give way when their request was given up before it was sent', () => {
    for (let count = 0; count < 10; count++) send(`upstream-${count}`).close(new Error('The client has left.'));
    expect(refusals()).toBe(0);
  });

  it('that give way are closed', async () => {
    const answered = send();
    await waitFor(() => (answered.take() === undefined ? answered.isOver : false), 'the answer');
    send('backup');
    send('spare');
    const open = Reflect.get(provider, 'sockets') as Set<unknown>;
    await waitFor(() => provider.connections === 3 && open.size === 2, 'the first connection to be closed');
  });

  it('do not give way once they are used again', async () => {
    let whole: ProviderCall | undefined;
    provider.next((call) => {
      whole = call.head();
    });
    provider.answers((call) => {
      call.head();
    });
    const first = send();
    await waitFor(() => first.head, 'the head');
    // The answer is whole, though the provider has not ended it yet.
    first.finish(60_000);
    whole?.end();
    await waitFor(() => first.isOver, 'the end of the answer');
    const again = send();
    await waitFor(() => again.head, 'the head');
    expect(provider.connections).toBe(1);

    send('backup');

    expect(() => send('spare')).toThrow();
    expect(again.isOver).toBe(false);
  });

  it.each([['is invalid', { headers: { authorization: 'Bearer\nkey' } }]])(
    'hold no slot for a request that %s',
    async (_, request) => {
      for (let count = 1; count <= 5; count++) {
        send('acme', request).close(new Error('The client has left.'));
        await turn();
      }
      expect([refusals(), provider.connections]).toEqual([0, 0]);
    },
  );

  it('are opened with the time limit of their upstream, also after it has changed', () => {
    const limits: number[] = [];
    const open = vi.spyOn(ConnectionPool.prototype, 'open').mockImplementation(function (this: ConnectionPool) {
      limits.push(Reflect.get(this, 'connectTimeoutMs') as number);
      throw new Error('Not opened.');
    });
    for (const connectMs of [1_000, 5_000]) {
      const changed = { ...upstream('acme'), timeouts: { connectMs } } as UpstreamConfig;
      const request = { url: new URL(provider.origin), headers: {}, body: '{}' };
      expect(() => connections.send(changed, request, () => undefined)).toThrow('Not opened.');
    }
    expect(limits).toEqual([1_000, 5_000]);
    open.mockRestore();
  });
});
