import { afterAll, describe, expect, it } from 'vitest';
import { RedisStreamStore } from '../../../src/plugins/durable/store/redis/redis-stream-store.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { metaKey } from '../../../src/plugins/durable/store/redis/stream-scripts.js';
import { testRedis } from '../../support/redis.js';
import { claimNew, describeStreamStore, memoryOf, newKey, text } from './describe-stream-store.js';

const redis = await testRedis();
const connections: RedisConnection[] = [];
const stores: RedisStreamStore[] = [];

async function openStore(retentionMs: number): Promise<RedisStreamStore> {
  const connection = new RedisConnection(redis?.url ?? '');
  connections.push(connection);
  await connection.onModuleInit();
  const store = new RedisStreamStore(connection, memoryOf(), retentionMs);
  stores.push(store);
  return store;
}

async function close(): Promise<void> {
  for (const store of stores.splice(0)) await store.beforeApplicationShutdown();
  await Promise.all(connections.splice(0).map((connection) => connection.onApplicationShutdown()));
}

describe.skipIf(redis === undefined)('on Redis', () => {
  afterAll(() => redis?.drop());

  describeStreamStore('Redis', {
    open: async (retentionMs) => [await openStore(retentionMs), await openStore(retentionMs)],
    close,
  });

  it('keeps a stream as long as configured after its end, and a minute longer while it runs', async () => {
    const store = await openStore(60 * 60_000);
    const key = await newKey();
    const stream = await claimNew(store, key);
    /** How long Redis keeps the stream, in minutes. */
    const kept = async (): Promise<readonly number[]> => {
      const keys = ((await redis?.client.keys('*')) ?? []).filter(
        (each) => each.startsWith(metaKey(key.locator)) && !each.endsWith(':readers'),
      );
      const left = await Promise.all(keys.map(async (each) => redis?.client.pTTL(each)));
      return left.map((ms) => Math.ceil((ms ?? 0) / 60_000));
    };
    await stream.begin(undefined);
    expect(await kept()).toEqual([61, 61]);
    await stream.end({ kind: 'done' });
    expect(await kept()).toEqual([60, 60]);
    await close();
  });

  it('holds no word of an answer, of a request or of an id', async () => {
    const store = await openStore(60_000);
    const body = { messages: [{ role: 'user', content: 'PLANTED-PROMPT' }] };
    const stream = await claimNew(store, await newKey(body, 'PLANTED-KEY'));
    await stream.begin(undefined);
    stream.log.append(text('PLANTED-ANSWER '.repeat(1_000)));
    await stream.end({ kind: 'failed', code: 'upstream_error', message: 'PLANTED-MESSAGE' });
    await close();

    const kept: string[] = [];
    for (const key of (await redis?.client.keys('*')) ?? []) {
      kept.push(key);
      const type = await redis?.client.type(key);
      if (type === 'hash') kept.push(JSON.stringify(await redis?.client.hGetAll(key)));
      if (type === 'stream') kept.push(JSON.stringify(await redis?.client.xRange(key, '-', '+')));
    }
    const dump = kept.join('\n');
    expect(dump.length).toBeGreaterThan(15_000);
    for (const word of ['PLANTED', stream.id, stream.id.slice(30)]) expect(dump).not.toContain(word);
  });
});
