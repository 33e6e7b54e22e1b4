import { describe, expect, it } from 'vitest';
import { AccountUse } from '../../../src/throttling/in-process/account-use.js';
import type { Limit } from '../../../src/throttling/limit-store.js';
import { InProcessLimitStore } from '../../../src/throttling/in-process/in-process-limit-store.js';
import { describeLimitStore } from '../../../src/testing/stores/describe-limit-store.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import { openInProcess } from './limit-stores.js';

describeLimitStore({ name: 'in a process', open: openInProcess });

describe('the limits counted in a process', () => {
  const admit = (store: InProcessLimitStore, tokens: number) =>
    store.admit({
      accountId: 'ada',
      limits: limitsOf({ requestsPerMinute: 2, concurrentStreams: 9, tokensPerDay: 100 }),
      tokens: { atLeast: tokens, atMost: tokens },
    });

  it('are whole again after a minute, and after midnight in UTC', async () => {
    let now = Date.parse('2026-03-01T23:58:30Z');
    const store = new InProcessLimitStore({ now: () => now });
    const first = await admit(store, 40);
    if (first.admitted) first.lease.settle(40);
    await admit(store, 60);
    expect(await admit(store, 0)).toMatchObject({ refusedBy: 'requestsPerMinute' });
    expect(store.precheck('ada', limitsOf({ requestsPerMinute: 2 }))).toMatchObject({ refusedBy: 'requestsPerMinute' });

    now += 60_000;
    expect(await admit(store, 1)).toMatchObject({ refusedBy: 'tokensPerDay', retryAfterSeconds: 30 });
    now += 30_000;
    // What runs on is reserved of the new day; what was used is not.
    expect(await admit(store, 41)).toMatchObject({ refusedBy: 'tokensPerDay' });
    expect(await admit(store, 40)).toMatchObject({ admitted: true });
  });

  it('are shared by as many processes as there are, what was used before by all excepted', async () => {
    const since = () => Promise.resolve(70);
    const store = new InProcessLimitStore({ tokensUsed: { since }, replicas: () => 3 });
    const limits = { requestsPerMinute: 10, concurrentStreams: 4, tokensPerDay: 100 };
    expect(await store.peek('ada', limitsOf(limits))).toMatchObject({
      requestsPerMinute: { limit: 10, remaining: 4 },
      concurrentStreams: { limit: 4, remaining: 2 },
      tokensPerDay: { limit: 100, remaining: 10 },
    });
  });

  it('begin a new minute of tokens with what streams still hold', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const store = new InProcessLimitStore({ now: () => now });
    const limits = limitsOf({ tokensPerMinute: 100 });
    const take = (tokens: number) =>
      store.admit({ accountId: 'ada', limits, tokens: { atLeast: tokens, atMost: tokens } });
    const first = await take(60);
    const second = await take(40);
    if (first.admitted) first.lease.settle(60);
    now += 45_000;
    expect(await take(1)).toMatchObject({ refusedBy: 'tokensPerMinute', retryAfterSeconds: 15 });

    now += 15_000;
    expect(await take(61)).toMatchObject({ refusedBy: 'tokensPerMinute' });
    expect(await take(60)).toMatchObject({ admitted: true });
    if (second.admitted) second.lease.settle(10);
    expect(await store.peek('ada', limits)).toMatchObject({ tokensPerMinute: { remaining: 30, resetSeconds: 60 } });
  });

  it('begin a new day with what was used of that day, also where nothing was counted in between', async () => {
    let now = Date.parse('2026-03-01T23:00:00Z');
    const lookups: string[] = [];
    const since = (_: string, from: Date) => {
      lookups.push(from.toISOString().slice(0, 10));
      return Promise.resolve(lookups.length === 1 ? 100 : 30);
    };
    const store = new InProcessLimitStore({ tokensUsed: { since }, now: () => now });
    expect(await admit(store, 1)).toMatchObject({ refusedBy: 'tokensPerDay' });

    now += 2 * 3_600_000;

    expect(await admit(store, 71)).toMatchObject({ refusedBy: 'tokensPerDay' });
    expect(await admit(store, 70)).toMatchObject({ admitted: true });
    expect(lookups).toEqual(['2026-03-01', '2026-03-02']);
  });

  it('do not begin a day with what was used on the day before, where the answer comes after midnight', async () => {
    let now = Date.parse('2026-03-01T23:59:59Z');
    const since = () => {
      now += 1000;
      return Promise.resolve(100);
    };
    const store = new InProcessLimitStore({ tokensUsed: { since }, now: () => now });
    expect(await admit(store, 100)).toMatchObject({ admitted: true });
  });

  it('count nothing that the tier does not limit', async () => {
    const store = new InProcessLimitStore();
    const admission = await store.admit({ accountId: 'ada', limits: [], tokens: { atLeast: 0, atMost: 0 } });
    const limits = { requestsPerMinute: 2, concurrentStreams: 9, tokensPerDay: 100 };
    expect(await store.peek('ada', limitsOf(limits))).toMatchObject({
      requestsPerMinute: { remaining: 2 },
      concurrentStreams: { remaining: 9 },
    });
    if (admission.admitted) admission.lease.settle(40);
    expect(await store.peek('ada', limitsOf(limits))).toMatchObject({ tokensPerDay: { remaining: 100 } });
  });

  it('evict the tokens of accounts only above a hundred thousand', () => {
    const now = Date.parse('2026-03-01T12:00:00Z');
    const store = new InProcessLimitStore({ now: () => now });
    const { accounts } = store as unknown as { accounts: Map<string, AccountUse> };
    const used = new AccountUse();
    const [tokens] = limitsOf({ tokensPerDay: 100 });
    used.count(tokens as Limit, 1, now);
    for (let account = 0; account < 100_000; account++) accounts.set(`account-${account}`, used);
    store.hold('ada', limitsOf({ concurrentStreams: 1 }), undefined);
    expect(accounts.size).toBe(100_001);
    store.hold('ada', limitsOf({ concurrentStreams: 1 }), undefined);
    expect(accounts.size).toBe(99_997);
  });

  it('use no memory for accounts that no longer send requests', async () => {
    let now = 0;
    const store = new InProcessLimitStore({ now: () => now });
    for (let account = 0; account < 20_000; account++) {
      now += 100;
      const admission = await store.admit({
        accountId: `account-${account}`,
        limits: limitsOf({ requestsPerMinute: 5, concurrentStreams: 5 }),
        tokens: { atLeast: 0, atMost: 0 },
      });
      if (admission.admitted) admission.lease.release();
    }
    const { accounts } = store as unknown as { accounts: ReadonlyMap<string, unknown> };
    expect(accounts.size).toBeLessThan(1000);
  });
});
