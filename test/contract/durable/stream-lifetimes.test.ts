import { Redis } from 'ioredis';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  CLAIM,
  FORGET,
  LEASE_MS,
  READ,
  streamKeys,
  WRITE,
} from '../../../src/plugins/durable/store/redis/stream-scripts.js';
import type { RedisScript } from '../../../src/platform/redis/redis-script.js';
import { testRedis } from '../../support/redis.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const [RETENTION, RUNNING] = [String(HOUR_MS), String(2 * HOUR_MS)];
const GENERATION = 'generation-1';
const { meta, log, readers } = streamKeys('0a'.repeat(16), GENERATION);
const ALL = [meta, log, readers];

const redis = await testRedis();
/** The client of the service, which connects with the first command. */
const client = new Redis(redis?.url ?? '', { lazyConnect: true });

/** A script, its keys and its arguments. */
const step = (script: RedisScript, keys: string[], ...args: string[]) => [script, keys, args] as const;
const claimAs = (generation: string) =>
  step(CLAIM, [meta, readers], generation, `wrap of ${generation}`, 'check', RUNNING, 'waiting', '1', 'reader-1');
const claim = claimAs(GENERATION);
const restore = step(CLAIM, [meta, readers], GENERATION, 'wrap', 'check', RUNNING, 'running', '1', '');
const begin = step(WRITE, ALL, GENERATION, 'running', RUNNING, '0', 'head');
const write = step(WRITE, ALL, GENERATION, '', RUNNING, '1', 'text');
const end = step(WRITE, ALL, GENERATION, 'ended', RETENTION, '1', 'end');
const renew = step(WRITE, ALL, GENERATION, '', RUNNING, '', '', 'reader-1');
const read = (reader: string, also = '') => step(READ, ALL, GENERATION, reader, '4', '0-0', '9', '1', RETENTION, also);
const release = step(FORGET, [meta, log], GENERATION, '4000', 'sealed');
const forget = step(FORGET, [meta, log], GENERATION, RUNNING);

async function lifetime(key: string): Promise<string> {
  const leftMs = (await redis?.client.pTTL(key)) ?? 0;
  if (leftMs === -2) return 'gone';
  if (leftMs === -1) return 'for ever';
  return leftMs < MINUTE_MS ? 'seconds' : `${Math.round(leftMs / HOUR_MS)} h`;
}

const run = ([script, keys, args]: ReturnType<typeof step>) => script.run(client, keys, args);

/** Lets the claim expire. */
const expire = () => redis?.client.hSet(meta, 'until', '1');

describe.skipIf(redis === undefined)('the keys of a durable stream', () => {
  beforeEach(() => redis?.client.del(ALL));
  afterAll(async () => {
    client.disconnect();
    await redis?.drop();
  });

  it.each([
    ['is claimed', [claim], ['2 h', 'gone', 'seconds']],
    ['has text', [claim, begin, write], ['2 h', '2 h', 'seconds']],
    ['has ended', [claim, begin, end], ['1 h', '1 h', 'seconds']],
    ['was lost and is restored', [restore, begin, read('reader-2')], ['2 h', '2 h', 'seconds']],
    ['was given up', [claim, release], ['seconds', 'seconds', 'seconds']],
    ['was forgotten', [claim, begin, end, forget], ['2 h', 'seconds', 'seconds']],
    ['was lost for its readers', [read('', 'bury')], ['1 h', 'gone', 'gone']],
  ])('stay only as long as they are of use: the stream %s', async (_, steps, lifetimes) => {
    for (const one of steps) await run(one);
    expect(await Promise.all(ALL.map(lifetime))).toEqual(lifetimes);
  });

  it('belong to one owner, whose claim lasts some seconds from each renewal', async () => {
    const [seconds] = await client.time();
    expect(await run(claim)).toEqual([]);
    expect(await run(claimAs('other'))).toEqual([GENERATION, `wrap of ${GENERATION}`]);
    const until = Number(await client.hget(meta, 'until'));
    expect(until).toBeGreaterThanOrEqual(1_000 * Number(seconds) + LEASE_MS);
    await expire();
    expect(await run(renew)).toEqual(['ok', 0, 1]);
    expect(Number(await client.hget(meta, 'until'))).toBeGreaterThanOrEqual(until);
  });

  it('are free when a reader sees an expired claim before the answer begins', async () => {
    await run(claim);
    await expire();
    expect(await run(read('reader-2'))).toEqual(['gone', [], 1]);
    expect(await run(begin)).toEqual(['gone']);
    expect(await run(claimAs('other'))).toEqual([]);
    expect([await run(begin), await run(renew)]).toEqual([['taken'], ['taken']]);
  });

  it('have one ending: of the owner, or of the reader who sees that its claim has expired', async () => {
    for (const one of [claim, begin, end]) await run(one);
    await expire();
    expect(await run(read(''))).toMatchObject(['ended', [{}, {}], 0]);
    // The reply was lost, and the owner asks again.
    expect(await run(end)).toEqual(['ok', 0, 1]);

    await redis?.client.del(ALL);
    for (const one of [claim, begin]) await run(one);
    await expire();
    expect(await run(read(''))).toMatchObject(['lost', [{}], 1]);
    expect([await run(end), await run(write), await run(renew)]).toEqual([['lost'], ['lost'], ['lost']]);
    expect(await run(claimAs('other'))).toEqual([GENERATION, `wrap of ${GENERATION}`]);
  });

  it('do not come back when they were forgotten, or lost for their readers', async () => {
    for (const one of [claim, begin, end, forget]) await run(one);
    expect([await run(write), await run(restore)]).toEqual([['lost'], ['refused']]);
    expect(await run(claimAs('other'))).toEqual([]);

    await redis?.client.del(ALL);
    await run(read('', 'bury'));
    expect([await run(write), await run(restore)]).toEqual([['lost'], ['refused']]);
  });

  it('stay when an earlier stream with the same key is forgotten or given up late', async () => {
    await run(claimAs('other'));
    for (const one of [forget, release]) await run(one);
    expect(await run(claimAs('third'))).toEqual(['other', 'wrap of other']);
  });

  it('have each entry once, and say which one is missing', async () => {
    for (const one of [claim, begin, begin, write, write]) await run(one);
    expect(await redis?.client.xLen(log)).toBe(2);
    await redis?.client.xDel(log, '2-0');
    expect(await run(step(WRITE, ALL, GENERATION, '', RUNNING, '2', 'more'))).toEqual(['behind', 1]);
  });

  it('tell the owner that a reader has cancelled the stream', async () => {
    await run(claim);
    await run(read('', 'cancel'));
    expect(await run(renew)).toEqual(['ok', 1, 1]);
  });

  it('count a reader for ten seconds after each renewal, and give its slot to another one then', async () => {
    const [seconds] = await client.time();
    const now = 1_000 * Number(seconds);
    await run(claim);
    for (const value of ['reader-1', 'x', 'y', 'z']) await client.zadd(readers, now + 8_000, value);
    expect(await run(read('reader-2'))).toEqual(['full', [], 0]);

    await run(renew);
    expect(Number(await client.zscore(readers, 'reader-1'))).toBeGreaterThanOrEqual(now + 10_000);
    await client.zadd(readers, now - 1, 'x');
    expect(await run(read('reader-2'))).toEqual(['waiting', [], 0]);
    expect(await client.zrange(readers, 0, -1)).toEqual(['y', 'z', 'reader-1', 'reader-2']);
  });
});
