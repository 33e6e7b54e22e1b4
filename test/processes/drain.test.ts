import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { durableWireOf, resume, streamIdOf } from '../support/durable.js';
import { Latch } from '../support/latch.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { get, openStream, startStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

const READY = '/api/v1/health/ready';
/** Far below the grace, and far above what it takes: the machine may do other work. */
const SOON_MS = 20_000;

describe('a process that receives SIGTERM', () => {
  let provider: ScriptedProvider;
  let installation: Installation;
  let key: string;
  let finish: Latch;

  beforeEach(async () => {
    provider = await ScriptedProvider.start();
    finish = new Latch();
    provider.answers(async (call) => {
      call.head().text('Hel');
      await finish.opened;
      call.text('lo').finish().endMarker().end();
    });
    installation = await Installation.create(configFile(routesTo([provider])));
    ({ key } = await installation.createKey());
  });
  afterEach(async () => {
    finish.open();
    await installation.remove();
    await provider.stop();
  });

  const draining = (origin: string) =>
    waitFor(async () => (await get(origin, READY)).status === 503, 'the process to drain');

  async function started(env: Record<string, string> = {}): Promise<[SpawnedProcess, string]> {
    const service = installation.start(env);
    return [service, await service.origin()];
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s refuses new streams, finishes those that run, and exits with 0',
    async (signal) => {
      const [service, origin] = await started();
      const running = await openStream(origin, { key });
      await running.block(1);

      service.signal(signal);
      await draining(origin);

      const ready = await get(origin, READY);
      expect(JSON.parse(ready.raw)).toMatchObject({ parts: { database: 'up', draining: true } });
      expect((await get(origin, '/api/v1/health')).status).toBe(200);
      const refused = await stream(origin, { key });
      expect(refused.status).toBe(503);
      expect((await refused.error()).code).toBe('shutting_down');
      expect(refused.headers.connection).toBe('close');
      expect(provider.calls).toHaveLength(1);

      finish.open();
      expect(await wireOf(running)).toMatchObject({ text: 'Hello', terminal: 'done' });
      const { code, stderr } = await service.exited;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  );

  it('ends the streams that outlast the grace with shutting_down, and exits with 0', async () => {
    const [service, origin] = await started({ SHUTDOWN_GRACE_SECONDS: '1' });
    const running = await openStream(origin, { key });
    await running.block(1);
    const waiting = startStream(origin, { key });
    provider.next(() => undefined);
    const signalledAt = performance.now();

    service.signal('SIGTERM');

    expect(await wireOf(running)).toMatchObject({ text: 'Hel', terminal: 'shutting_down' });
    expect(await running.over).toBe('ended');
    expect(performance.now() - signalledAt).toBeGreaterThan(900);
    waiting.leave();
    expect((await service.exited).code).toBe(0);
  });

  it('answers 503 to what has no headers when the grace is over', async () => {
    const [service, origin] = await started({ SHUTDOWN_GRACE_SECONDS: '1' });
    provider.answers(() => undefined);
    const { answer } = startStream(origin, { key });
    await provider.call(1);

    service.signal('SIGTERM');

    const refused = await answer;
    expect(refused.status).toBe(503);
    expect((await refused.error()).code).toBe('shutting_down');
    expect((await service.exited).code).toBe(0);
  });

  it('ends at once at the second signal', async () => {
    const [service, origin] = await started();
    const running = await openStream(origin, { key });
    await running.block(1);
    service.signal('SIGTERM');
    await draining(origin);
    const signalledAt = performance.now();

    service.signal('SIGTERM');

    expect((await service.exited).code).toBe(1);
    expect(performance.now() - signalledAt).toBeLessThan(SOON_MS);
    expect(await running.over).toBe('cut');
    expect(running.raw).not.toContain('"done":true');
  });

  it('is not held up by connections between two requests, and hardly by those before their first', async () => {
    const [service, origin] = await started();
    const { hostname, port } = new URL(origin);
    const used = connect(Number(port), hostname);
    await once(used, 'connect');
    used.write('GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(used, 'data');
    const unused = connect(Number(port), hostname);
    await once(unused, 'connect');
    const signalledAt = performance.now();

    service.signal('SIGTERM');

    await once(used, 'close');
    expect(performance.now() - signalledAt).toBeLessThan(SOON_MS);
    expect((await service.exited).code).toBe(0);
    expect(performance.now() - signalledAt).toBeLessThan(SOON_MS);
    unused.destroy();
  });

  it('is not held up beyond the grace by a client that does not read', async () => {
    const [service, origin] = await started({ SHUTDOWN_GRACE_SECONDS: '1' });
    provider.answers(async (call) => {
      call.head();
      while (call.abortedAt === undefined) {
        call.text('x'.repeat(10_000));
        await call.drained();
      }
    });
    const running = await openStream(origin, { key });
    running.pause();

    service.signal('SIGTERM');

    expect((await service.exited).code).toBe(0);
    running.leave();
  });

  it('finishes its durable streams for their readers, also for those that come again, and starts no new ones', async () => {
    const [service, origin] = await started();
    const ask = (name: string) => openStream(origin, { key, headers: { 'idempotency-key': name } });
    const first = await ask('drained');
    await first.block(1);

    service.signal('SIGTERM');
    await draining(origin);
    const again = await resume(origin, streamIdOf(first), { key });
    const refused = await ask('new');
    finish.open();

    for (const reader of [first, again]) {
      expect(await durableWireOf(reader)).toMatchObject({ text: 'Hello', terminal: 'done' });
    }
    expect([refused.status, (await refused.error()).code]).toEqual([503, 'shutting_down']);
    expect((await service.exited).code).toBe(0);
  });
});
