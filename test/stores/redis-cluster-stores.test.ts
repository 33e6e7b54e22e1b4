import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisAttemptCounters } from '../../src/auth/attempts/redis-attempt-counters.js';
import { RedisStreamStore } from '../../src/plugins/durable/store/redis/redis-stream-store.js';
import { PluginRedis } from '../../src/plugin-api/plugin-redis.js';
import { RedisConnection } from '../../src/platform/redis/redis-connection.js';
import { describeLimitStore } from '../../src/testing/stores/describe-limit-store.js';
import { describeStreamStore, memoryOf } from '../contract/durable/describe-stream-store.js';
import { describeAttemptCounters } from '../contract/sign-in/describe-attempt-counters.js';
import { answers, openExactly } from '../contract/throttling/limit-stores.js';
import { hasClusterPrograms, TestCluster } from '../support/redis-cluster.js';
import { waitFor } from '../support/wait-for.js';

/** Longer than two probes. */
const PROBES_MS = 1_200;

describe.skipIf(!hasClusterPrograms)('on a Redis Cluster', () => {
  let cluster: TestCluster;
  const connections: RedisConnection[] = [];
  const streamStores: RedisStreamStore[] = [];

  beforeAll(async () => {
    cluster = await TestCluster.start({ nodeTimeoutMs: 20_000 });
  }, 90_000);
  afterAll(() => cluster.stop());

  async function connect(): Promise<RedisConnection> {
    const connection = new RedisConnection(cluster.url);
    connections.push(connection);
    await connection.onModuleInit();
    await waitFor(() => answers(connection), 'the cluster to answer');
    return connection;
  }
  async function openStreams(retentionMs: number): Promise<RedisStreamStore> {
    const store = new RedisStreamStore(await connect(), memoryOf(), retentionMs);
    streamStores.push(store);
    return store;
  }
  async function close(): Promise<void> {
    for (const store of streamStores.splice(0)) await store.beforeApplicationShutdown();
    await Promise.all(connections.splice(0).map((connection) => connection.onApplicationShutdown()));
  }

  describeLimitStore({
    name: 'in a cluster',
    open: (tokensUsed) => openExactly(cluster.url, tokensUsed),
    replicas: 3,
  });
  describeAttemptCounters(
    'in a cluster',
    async () => ({ counters: new RedisAttemptCounters(await connect()), close }),
    3,
  );
  describeStreamStore('a cluster', {
    open: async (retentionMs) => [await openStreams(retentionMs), await openStreams(retentionMs)],
    close,
  });

  it('a plugin runs commands for its keys, wherever they are', async () => {
    const redis = new PluginRedis(await connect(), 'jobs');
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const set = (name: string) => redis.run(name, (client, key) => client.set(key, name));
    const read = (name: string) => redis.run(name, (client, key) => client.get(key));
    await Promise.all(names.map(set));
    expect(await Promise.all(names.map(read))).toEqual(names);
    await close();
  });

  it('one server is of no use, and does not come and go', async () => {
    const port = await cluster.masterOf('chat:probe');
    let elsewhere = 0;
    while ((await cluster.masterOf(`key-${elsewhere}`)) === port) elsewhere += 1;
    const connection = new RedisConnection(`redis://127.0.0.1:${port}`);
    connections.push(connection);
    await connection.onModuleInit();
    let backs = 0;
    connection.whenBack(() => backs++);
    const read = connection.run(`key-${elsewhere}`, (client) => client.get('key'));
    await expect(read).rejects.toThrow('REDIS_URL must be redis+cluster://');
    await wait(PROBES_MS);
    expect([connection.isUnavailable, backs]).toEqual([true, 0]);
    await close();
  });
});
