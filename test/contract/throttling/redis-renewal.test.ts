import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../../src/throttling/redis/account-scripts.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import { testRedis, type TestRedis } from '../../support/redis.js';
import { waitFor } from '../../support/wait-for.js';
import { openExactly, type OpenedStore } from './limit-stores.js';

let redis: TestRedis;
let opened: OpenedStore;

beforeAll(async () => {
  const found = await testRedis();
  if (found === undefined) throw new Error('Redis does not answer.');
  redis = found;
  opened = await openExactly(redis.url);
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(async () => {
  await opened.close();
  await redis.drop();
});

it('leases hold for as long as their process renews them, slots and tokens', async () => {
  const accountId = randomUUID();
  const expiries = async (): Promise<number[]> => {
    const streams = await redis.client.zRangeWithScores(`chat:{${accountId}}:streams`, 0, -1);
    const tokens = await redis.client.zRangeWithScores(`chat:{${accountId}}:tokens`, 0, -1);
    return [...streams, ...tokens].map(({ score }) => score);
  };
  // Those of the connection run on, as they were started before.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const limits = limitsOf({ concurrentStreams: 2, tokensPerDay: 100 });
  await opened.store.admit({ accountId, limits, tokens: { atLeast: 40, atMost: 40 } });

  for (let round = 0; round < 2; round++) {
    const before = await expiries();
    expect(before).toHaveLength(2);
    vi.advanceTimersByTime(LEASE_MS / 3);
    let rounds = 0;
    await waitFor(async () => {
      // A busy Redis can miss a renewal. The next one is as good.
      if (++rounds % 100 === 0) vi.advanceTimersByTime(LEASE_MS / 3);
      const after = await expiries();
      return after.every((expiry, index) => expiry > (before[index] ?? Infinity));
    }, 'the leases to be renewed');
  }
});
