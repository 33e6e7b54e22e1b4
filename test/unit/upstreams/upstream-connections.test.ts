import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceError } from '../../../src/common/service-error.js';
import { ShedLoad } from '../../../src/common/shed-load.js';
import type { Config, UpstreamConfig } from '../../../src/config/config.js';
import { UpstreamConnections } from '../../../src/upstreams/transport/upstream-connections.js';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { waitFor } from '../../support/wait-for.js';

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

  const send = (name = 'acme') =>
    connections.send(
      { name, timeouts: { connectMs: 1_000 } } as UpstreamConfig,
      {
        url: new URL(provider.origin),
        headers: {},
        body: '{}',
      },
      () => undefined,
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
    expect(refusal).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 } satisfies Partial<ServiceError>);
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
});
