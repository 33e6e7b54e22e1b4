import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { burst } from '../replicas/support/burst.js';
import { Replicas } from '../replicas/support/replicas.js';
import { sharedStores } from '../replicas/support/stores.js';
import { durableWireOf } from '../support/durable.js';
import { hasClusterPrograms, TestCluster } from '../support/redis-cluster.js';
import { stream } from '../support/sse-client.js';

const stores = hasClusterPrograms ? await sharedStores() : undefined;

afterAll(() => stores?.redis.drop());

describe.skipIf(stores === undefined)('a replica on a Redis Cluster with TLS and a user with few permissions', () => {
  it('counts on all masters, with keys that begin with the name of the service', async () => {
    const cluster = await TestCluster.start({ isSecure: true, nodeTimeoutMs: 20_000 });
    onTestFinished(() => cluster.stop());
    const env = { REDIS_URL: cluster.url, ...cluster.env };
    const tiers = { free: { requests_per_minute: 1 } };
    const replicas = await Replicas.start(stores as NonNullable<typeof stores>, { count: 1, tiers, env });
    onTestFinished(() => replicas.stop());
    replicas.provider.answers((call) => {
      call.answer('Hello');
    });
    const { key } = await replicas.createKey();
    const durable = () => stream(replicas.origins[0] ?? '', { key, headers: { 'idempotency-key': 'one' } });
    for (const answer of [await durable(), await durable()]) {
      expect(await durableWireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'done' });
    }
    const masters = new Set<number>();
    for (let accounts = 0; masters.size < 3; accounts++) {
      if (accounts === 50) throw new Error('Some masters hold no account.');
      const account = await replicas.createKey();
      expect((await burst(replicas.origins, 2, account)).admitted).toHaveLength(1);
      masters.add(await cluster.masterOf(`chat:{${account.accountId}}:use`));
      expect(await cluster.client.hGet(`chat:{${account.accountId}}:use`, 'requestsPerMinute')).toBe('1');
    }
    for (const key of await cluster.keys('*')) expect(key).toMatch(/^chat:/);
    expect(replicas.all[0]?.process.stdout).not.toContain('Redis is unavailable');
  }, 180_000);
});
