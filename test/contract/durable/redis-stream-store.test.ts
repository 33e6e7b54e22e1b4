import { afterAll, describe, expect, it } from 'vitest';
import { RedisStreamStore } from '../../../src/chat/durable/store/redis/redis-stream-store.js';
import { openRedis } from '../../../src/redis/open-redis.js';
import type { RedisConnection } from '../../../src/redis/redis-connection.js';
import { testRedis } from '../../support/redis.js';
import { waitFor } from '../../support/wait-for.js';
import { claimNew, describeStreamStore, memoryOf, newKey } from './describe-stream-store.js';

const redis = await testRedis();
const connections: RedisConnection[] = [];
const stores: RedisStreamStore[] = [];

async function openStore(retentionMs: number): Promise<RedisStreamStore> {
  const connection = openRedis(redis?.url ?? '');
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

  it('holds no word of an answer, of a request or of an id', async () => {
    const store = await openStore(60_000);
    const body = { messages: [{ role: 'user', content: 'PLANTED-PROMPT' }] };
    const stream = await claimNew(store, await newKey(body, 'PLANTED-KEY'));
    stream.log.begin();
    stream.log.append('PLANTED-ANSWER '.repeat(1_000));
    stream.log.end({ kind: 'failed', code: 'upstream_error', message: 'PLANTED-MESSAGE' });
    await waitFor(async () => (await redis?.client.keys('chat:stream:*:*'))?.length, 'the text to be stored');
    await stream.cancel();
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
