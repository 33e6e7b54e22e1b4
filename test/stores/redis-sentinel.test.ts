import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { burst } from '../replicas/support/burst.js';
import { Replicas } from '../replicas/support/replicas.js';
import { sharedStores } from '../replicas/support/stores.js';
import { redisServer, SentinelGroup } from '../support/redis-sentinel.js';
import { get, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

const stores = redisServer === undefined ? undefined : await sharedStores();
const PER_MINUTE = 9;
const FAILOVER_MS = 30_000;

describe.skipIf(stores === undefined).each([
  ['without TLS and passwords', false],
  ['with TLS, and with different passwords of the servers and the Sentinels', true],
])('two replicas on Redis with Sentinel, %s', (_, isSecure) => {
  let group: SentinelGroup;
  let replicas: Replicas;

  beforeAll(async () => {
    group = await SentinelGroup.start({ isSecure });
    const tiers = { free: { requests_per_minute: PER_MINUTE } };
    const env = { REDIS_URL: group.url, ...group.env };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { count: 2, tiers, env });
    replicas.provider.answers((call) => {
      call.answer('Hello');
    });
  }, 180_000);
  afterAll(async () => {
    await replicas.stop();
    await group.stop();
  }, 60_000);

  const areAll = (state: 'up' | 'down') =>
    waitFor(
      async () => {
        const ready = replicas.origins.map(async (origin) => {
          const { raw } = await get(origin, '/api/v1/health/ready');
          return (JSON.parse(raw) as { parts: { redis: string } }).parts.redis === state;
        });
        return (await Promise.all(ready)).every(Boolean);
      },
      `Redis to be ${state}`,
      FAILOVER_MS,
    );
  async function areExact(): Promise<void> {
    const { admitted } = await burst(replicas.origins, PER_MINUTE, await replicas.createKey());
    expect(admitted).toHaveLength(PER_MINUTE);
  }

  it('follow the master to another server, count exactly, and receive cooldowns there', async () => {
    await areAll('up');
    await areExact();

    await group.killMaster();
    await areAll('down');
    expect((await stream(replicas.origins[0] ?? '', await replicas.createKey())).status).toBe(200);
    await areAll('up');
    await areExact();

    const { key } = await replicas.createKey();
    replicas.provider.next((call) => {
      call.refuse(429, { 'retry-after': '120' });
    });
    expect((await stream(replicas.origins[0] ?? '', { key })).status).toBe(503);
    await waitFor(async () => {
      const tried = await stream(replicas.origins[1] ?? '', await replicas.createKey());
      return tried.status === 503;
    }, 'the rest to arrive');
  }, 120_000);
});

afterAll(() => stores?.redis.drop());
