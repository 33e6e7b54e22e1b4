import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Limit, LimitStore, TokenDemand } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/account-limits.js';
import { admittedOf, exactly, leaseOf, NO_TOKENS, type LimitStores } from './limit-stores.js';

const requests = (max: number, key: string): Limit => ({
  name: 'keyRequestsPerMinute',
  unit: 'requests',
  window: 'minute',
  max,
  key,
});
const tokens = (max: number, key: string): Limit => ({
  name: 'keyTokensPerDay',
  unit: 'tokens',
  window: 'day',
  max,
  key,
});

/** Describes how a store counts the limits of single API keys together with the limits of their account. */
export function describeKeyLimits({ openAll, openOne }: LimitStores): void {
  const admit = (store: LimitStore, accountId: string, limits: readonly Limit[], demand: TokenDemand = NO_TOKENS) =>
    store.admit({ accountId, limits, tokens: demand });

  it('of a key are exact, and those of another key of the account are not used', async () => {
    const stores = await openAll();
    const accountId = randomUUID();
    const [first] = stores as [LimitStore];
    const ofKey = (key: string) => [...limitsOf({ requestsPerMinute: 50 }), requests(10, key)];
    const admissions = await Promise.all(
      Array.from({ length: 40 }, (_, n) => admit(stores[n % stores.length] ?? first, accountId, ofKey('a'))),
    );
    expect(admittedOf(admissions)).toHaveLength(10);
    expect(await admit(first, accountId, ofKey('a'))).toMatchObject({ refusedBy: 'keyRequestsPerMinute' });
    expect(await admit(first, accountId, ofKey('b'))).toMatchObject({ admitted: true });
    expect(await first.peek(accountId, ofKey('a'))).toMatchObject({
      requestsPerMinute: { remaining: 39 },
      keyRequestsPerMinute: { limit: 10, remaining: 0 },
    });
  });

  it('of a key and of its account both reserve tokens, and both settle', async () => {
    const store = await openOne();
    const accountId = randomUUID();
    const ofKey = (key: string) => [...limitsOf({ tokensPerDay: 100, concurrentStreams: 5 }), tokens(60, key)];
    const lease = leaseOf(await admit(store, accountId, ofKey('a'), { atLeast: 1, atMost: 90 }));
    expect(lease.tokens).toBe(60);
    expect(await admit(store, accountId, ofKey('a'), exactly(1))).toMatchObject({ refusedBy: 'keyTokensPerDay' });
    expect(await admit(store, accountId, ofKey('b'), exactly(41))).toMatchObject({ refusedBy: 'tokensPerDay' });

    lease.settle(25);
    lease.release();
    expect(await store.peek(accountId, ofKey('a'))).toMatchObject({
      concurrentStreams: { remaining: 5 },
      tokensPerDay: { remaining: 75 },
      keyTokensPerDay: { remaining: 35 },
    });
    expect(await store.peek(accountId, ofKey('b'))).toMatchObject({ keyTokensPerDay: { remaining: 60 } });
  });

  it('of a key begin with the tokens that the key used before', async () => {
    const since = (_: string, __: Date, key?: string) => Promise.resolve(key === undefined ? 70 : 40);
    const store = await openOne({ since });
    const limits = [...limitsOf({ tokensPerDay: 100 }), tokens(60, 'a')];
    const accountId = randomUUID();
    expect(await admit(store, accountId, limits, exactly(21))).toMatchObject({ refusedBy: 'keyTokensPerDay' });
    expect(await admit(store, accountId, limits, exactly(20))).toMatchObject({ admitted: true });
    expect(await store.peek(accountId, limits)).toMatchObject({
      tokensPerDay: { remaining: 10 },
      keyTokensPerDay: { remaining: 0 },
    });
  });

  it('of a key work where the account has none', async () => {
    const store = await openOne();
    const limits = [tokens(50, 'a'), requests(2, 'a')];
    const accountId = randomUUID();
    leaseOf(await admit(store, accountId, limits, exactly(50))).settle(10);
    expect(await admit(store, accountId, limits, exactly(41))).toMatchObject({ refusedBy: 'keyTokensPerDay' });
    expect(await admit(store, accountId, limits, exactly(40))).toMatchObject({ admitted: true });
    expect(await admit(store, accountId, limits)).toMatchObject({ refusedBy: 'keyRequestsPerMinute' });
  });

  it('of several keys are counted apart from each other, with their streams and their tokens', async () => {
    const store = await openOne();
    const accountId = randomUUID();
    const limits = (model: string): Limit[] => [
      ...limitsOf({ concurrentStreams: 3 }),
      { name: 'model-streams', unit: 'streams', window: 'none', max: 1, key: `streams:${model}` },
      { name: 'model-tokens', unit: 'tokens', window: 'month', max: 100, key: `tokens:${model}` },
    ];
    const lease = leaseOf(await admit(store, accountId, limits('a'), exactly(60)));
    expect(await admit(store, accountId, limits('a'), exactly(10))).toMatchObject({ refusedBy: 'model-streams' });
    const other = leaseOf(await admit(store, accountId, limits('b'), exactly(60)));
    expect(await store.peek(accountId, limits('a'))).toMatchObject({
      concurrentStreams: { remaining: 1 },
      'model-streams': { remaining: 0 },
      'model-tokens': { remaining: 40 },
    });

    lease.settle(30);
    lease.release();
    other.release();
    other.settle(0);
    expect(await admit(store, accountId, limits('a'), exactly(71))).toMatchObject({ refusedBy: 'model-tokens' });
    expect(await store.peek(accountId, limits('a'))).toMatchObject({
      concurrentStreams: { remaining: 3 },
      'model-streams': { remaining: 1 },
      'model-tokens': { remaining: 70 },
    });
  });

  it('count the cost of a request, and begin a month with what was used before', async () => {
    const store = await openOne();
    const accountId = randomUUID();
    const asked: string[] = [];
    const limits = (cost: number): Limit[] => [
      { name: 'points', unit: 'requests', window: 'month', max: 10, key: 'points', cost },
      {
        ...{ name: 'month', unit: 'tokens', window: 'month', max: 100, key: 'month' },
        usedBefore: (from) => {
          asked.push(from.toISOString().slice(8));
          return Promise.resolve(90);
        },
      },
    ];
    expect(await admit(store, accountId, limits(7), exactly(5))).toMatchObject({
      admitted: true,
      state: { points: { remaining: 3 }, month: { remaining: 5 } },
    });
    expect(await admit(store, accountId, limits(4), exactly(1))).toMatchObject({ refusedBy: 'points' });
    expect(await admit(store, accountId, limits(0), exactly(6))).toMatchObject({ refusedBy: 'month' });
    expect(await admit(store, accountId, limits(3), exactly(5))).toMatchObject({ admitted: true });
    expect(asked).toEqual(['01T00:00:00.000Z']);
    const { month } = await store.peek(accountId, limits(1));
    const now = new Date();
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    expect(Math.abs((month?.resetSeconds ?? 0) - (end - now.getTime()) / 1_000)).toBeLessThan(60);
  });
}
