import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReplicaPresence } from '../../../src/chat/durable/store/redis/replica-presence.js';
import { presenceKey, streamKeys } from '../../../src/chat/durable/store/redis/stream-keys.js';
import {
  ABANDON,
  CLAIM,
  DROP,
  ENTER,
  FENCE,
  RENEW_READERS,
  RESTORE,
  WRITE,
} from '../../../src/chat/durable/store/redis/stream-scripts.js';
import { openRedis } from '../../../src/redis/open-redis.js';
import type { RedisClient } from '../../../src/redis/redis-client.js';
import type { RedisScript } from '../../../src/redis/redis-script.js';
import { testRedis } from '../../support/redis.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const [RETENTION, RUNNING] = [String(HOUR_MS), String(2 * HOUR_MS)];
const GENERATION = 'generation-1';
const { meta, text, readers } = streamKeys('0a'.repeat(16), GENERATION);

const redis = await testRedis();

/** A script, its keys and its arguments. */
const step = (script: RedisScript, keys: string[], ...args: string[]) => [script, keys, args] as const;
const claim = step(CLAIM, [meta, readers], GENERATION, 'owner', 'wrap', 'check', RUNNING, 'reader-1', '1');
const write = step(WRITE, [meta, text], GENERATION, 'running', RUNNING, 'o', '0');
const end = step(WRITE, [meta, text], GENERATION, 'ended', RETENTION, 'o', '0');
const enter = step(ENTER, [meta, readers], GENERATION, 'reader-2', '4');
const renew = step(RENEW_READERS, [readers], 'reader-1');
const restore = step(RESTORE, [meta, text], GENERATION, 'owner', 'wrap', 'check', RUNNING, 'running');
const abandon = step(ABANDON, [meta, text], GENERATION, '');
const fence = step(FENCE, [meta, text], GENERATION, RETENTION);
const drop = step(DROP, [meta, text, readers], GENERATION);

async function lifetime(key: string): Promise<string> {
  const leftMs = (await redis?.client.pTTL(key)) ?? 0;
  if (leftMs === -2) return 'gone';
  if (leftMs === -1) return 'for ever';
  return leftMs < MINUTE_MS ? 'seconds' : `${Math.round(leftMs / HOUR_MS)} h`;
}

describe.skipIf(redis === undefined)('the keys of a durable stream', () => {
  beforeEach(() => redis?.client.del([meta, text, readers]));
  afterAll(() => redis?.drop());

  it.each([
    ['is claimed', [claim], ['2 h', 'gone', 'seconds']],
    ['has text', [claim, write], ['2 h', '2 h', 'seconds']],
    ['has ended', [claim, write, end], ['1 h', '1 h', 'seconds']],
    ['has been restored after a loss', [restore, enter], ['2 h', 'gone', 'seconds']],
    ['has been restored after a loss in part', [claim, write, restore], ['2 h', 'gone', 'seconds']],
    ['has readers whose slots were lost', [renew], ['gone', 'gone', 'seconds']],
    ['was given up', [claim, abandon], ['gone', 'seconds', 'seconds']],
    ['has lost its owner before the first text', [claim, fence], ['gone', 'seconds', 'seconds']],
    ['has lost its owner after the first text', [claim, write, fence], ['1 h', '1 h', 'seconds']],
    ['was dropped', [claim, write, end, drop], ['gone', 'seconds', 'seconds']],
  ])('stay only as long as they are of use: the stream %s', async (_, steps, lifetimes) => {
    for (const [script, keys, args] of steps) await script.run(redis?.client as unknown as RedisClient, keys, args);
    expect(await Promise.all([meta, text, readers].map(lifetime))).toEqual(lifetimes);
  });

  it('count a reader for ten seconds after each renewal, and give its slot to another one then', async () => {
    const client = redis?.client as unknown as RedisClient;
    const run = ([script, keys, args]: ReturnType<typeof step>) => script.run(client, keys, args);
    const [seconds] = await client.time();
    const now = 1_000 * Number(seconds);
    await run(claim);
    await client.zAdd(
      readers,
      ['reader-1', 'x', 'y', 'z'].map((value) => ({ score: now + 8_000, value })),
    );
    expect(await run(enter)).toBe(0);

    await run(renew);
    expect(await client.zScore(readers, 'reader-1')).toBeGreaterThanOrEqual(now + 10_000);
    await client.zAdd(readers, { score: now - 1, value: 'x' });
    expect(await run(enter)).toBe(1);
    expect(await client.zRange(readers, 0, -1)).toEqual(['y', 'z', 'reader-1', 'reader-2']);
  });

  it('belong to a replica that shows its presence, for a few seconds at a time', async () => {
    const connection = openRedis(redis?.url ?? '');
    await connection.onModuleInit();
    const presence = new ReplicaPresence(connection, vi.fn(), vi.fn());
    await presence.show();
    expect(await lifetime(presenceKey(presence.id))).toBe('seconds');
    presence.hide();
    await connection.onApplicationShutdown();
  });
});
