import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RedisAttemptCounters } from '../../../src/auth/attempts/redis-attempt-counters.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { testRedis } from '../../support/redis.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import { allowed, describeAttemptCounters } from './describe-attempt-counters.js';

/** Far above what is waited for, far below what would be waited for in vain. */
const AT_ONCE_MS = 10_000;
const redis = await testRedis();

async function openOn(url: string) {
  const connection = new RedisConnection(url);
  await connection.onModuleInit();
  return {
    connection,
    counters: new RedisAttemptCounters(connection),
    close: () => connection.onApplicationShutdown(),
  };
}

describe.skipIf(redis === undefined)('Redis', () => {
  afterAll(() => redis?.drop());
  describeAttemptCounters('in Redis', () => openOn(redis?.url ?? ''), 3);

  describe('attempts counted in Redis', () => {
    let proxy: TcpProxy;
    let opened: Awaited<ReturnType<typeof openOn>>;
    let limit: { name: string; attempts: number; withinSeconds: number };

    beforeEach(async () => {
      proxy = await TcpProxy.start(redis?.port ?? 0);
      opened = await openOn(`redis://127.0.0.1:${proxy.port}/${redis?.database ?? 0}`);
      limit = { name: `test:${randomUUID()}`, attempts: 5, withinSeconds: 60 };
    });
    afterEach(async () => {
      proxy.restore();
      await opened.close();
      await proxy.stop();
    });

    it('lie under the prefix of the service, in one slot of a cluster for each key, and none for ever', async () => {
      await opened.counters.counter(limit).count('ada');
      await opened.counters.memory(limit.name, 2_592_000).add('grace');
      const keys = (await redis?.client.keys(`*${limit.name}*`)) ?? [];
      expect(keys.sort()).toEqual([`chat:${limit.name}:{ada}`, `chat:${limit.name}:{grace}`]);
      for (const key of keys) expect(await redis?.client.pTTL(key)).toBeGreaterThan(0);
    });

    it.each(['cut', 'stall'] as const)('are counted by each process while Redis is unavailable (%s)', async (how) => {
      const counter = opened.counters.counter(limit);
      const memory = opened.counters.memory(limit.name, 60);
      const before = await counter.count('ada');
      await memory.add('ada');
      await memory.add('grace');

      proxy[how]();
      const started = performance.now();
      expect(await allowed(counter, 'ada', 20)).toBe(5);
      if (before.allowed) await before.withdraw();
      expect(await memory.has('ada')).toBe(true);
      await memory.add('hedy');
      const during = await counter.count('hedy');
      expect(performance.now() - started).toBeLessThan(AT_ONCE_MS);

      proxy.restore();
      await waitFor(() => !opened.connection.isUnavailable, 'Redis to be back');
      // What was counted here is withdrawn here: Redis keeps its own count.
      expect(await allowed(counter, 'hedy', 4)).toBe(4);
      if (during.allowed) await during.withdraw();
      expect(await allowed(counter, 'hedy', 5)).toBe(1);
    });

    it('are counted in a process that starts while Redis is unavailable', async () => {
      proxy.cut();
      const alone = await openOn(`redis://127.0.0.1:${proxy.port}/${redis?.database ?? 0}`);
      expect(await allowed(alone.counters.counter(limit), 'ada', 20)).toBe(5);
      await alone.close();
    });
  });
});
