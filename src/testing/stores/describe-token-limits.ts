import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Limit, Refusal } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/account-limits.js';
import { admit, admittedOf, burst, exactly, leaseOf, NO_TOKENS, type LimitStores } from './limit-stores.js';

/** Describes how a store reserves and counts tokens. */
export function describeTokenLimits({ openAll, openOne }: LimitStores): void {
  it('grant as many tokens as are left, no fewer than needed and no more than wanted', async () => {
    const store = await openOne();
    const accountId = randomUUID();
    const limits = { tokensPerDay: 1000 };
    const grants = [];
    for (const tokens of [
      { atLeast: 10, atMost: 700 },
      { atLeast: 10, atMost: 700 },
    ]) {
      grants.push(leaseOf(await admit(store, accountId, limits, tokens)).tokens);
    }
    expect(grants).toEqual([700, 300]);
    expect(await admit(store, accountId, limits, exactly(1))).toMatchObject({
      admitted: false,
      refusedBy: 'tokensPerDay',
    });
    expect(leaseOf(await admit(store, accountId, limits, NO_TOKENS)).tokens).toBe(0);
  });

  it('replace what was reserved by what was used, once', async () => {
    const store = await openOne();
    const limits = { tokensPerDay: 1000 };
    const { accountId, admissions } = await burst([store], 3, limits, exactly(300));
    const [first, second, third] = admissions.map(leaseOf);
    first?.settle(50);
    first?.settle(500);
    second?.settle(0);
    second?.settle(7);

    expect(await store.peek(accountId, limitsOf(limits))).toMatchObject({
      tokensPerDay: { remaining: 1000 - 50 - 300 },
    });
    third?.settle(2000);
    expect(await store.peek(accountId, limitsOf(limits))).toMatchObject({ tokensPerDay: { remaining: 0 } });
    expect(await admit(store, accountId, limits, exactly(1))).toMatchObject({ refusedBy: 'tokensPerDay' });
  });

  it('reserve as much as every limit of tokens allows, and settle for all of them', async () => {
    const store = await openOne();
    const [accountId, limits] = [randomUUID(), { tokensPerMinute: 100, tokensPerDay: 150 }];
    const first = leaseOf(await admit(store, accountId, limits, { atLeast: 10, atMost: 700 }));
    expect(first.tokens).toBe(100);
    const byMinute = await admit(store, accountId, limits, exactly(1));
    expect(byMinute).toMatchObject({ refusedBy: 'tokensPerMinute' });
    const { retryAfterSeconds } = byMinute as Refusal;
    expect(retryAfterSeconds).toBeGreaterThan(50);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);

    first.settle(30);
    expect(await store.peek(accountId, limitsOf(limits))).toMatchObject({
      tokensPerMinute: { limit: 100, remaining: 70 },
      tokensPerDay: { limit: 150, remaining: 120 },
    });
    expect(leaseOf(await admit(store, accountId, limits, exactly(70))).tokens).toBe(70);
    expect(await admit(store, accountId, limits, exactly(51))).toMatchObject({ refusedBy: 'tokensPerDay' });
  });

  it('keep the slot of a stream whose tokens are settled, and the tokens of one whose slot is released', async () => {
    const store = await openOne();
    const limits = { concurrentStreams: 2, tokensPerDay: 100 };
    const { accountId, admissions } = await burst([store], 2, limits, exactly(30));
    admissions.map(leaseOf)[0]?.settle(10);
    admissions.map(leaseOf)[1]?.release();
    expect(await store.peek(accountId, limitsOf(limits))).toMatchObject({
      concurrentStreams: { remaining: 1 },
      tokensPerDay: { remaining: 60 },
    });
  });

  it('begin with the tokens that were used before, read once and counted once', async () => {
    const queriedFrom: Date[] = [];
    const stores = await openAll({
      async since(_, from) {
        queriedFrom.push(from);
        // Long enough for all replies to "not looked up", also on a busy machine.
        await new Promise((resolve) => setTimeout(resolve, 300));
        return 900;
      },
    });
    const { accountId, admissions } = await burst(stores, 30, { tokensPerDay: 1000 }, exactly(10));

    expect(admittedOf(admissions)).toHaveLength(10);
    expect(queriedFrom.length).toBeLessThanOrEqual(stores.length);
    expect(queriedFrom[0]?.getTime()).toBe(Math.floor(Date.now() / 86_400_000) * 86_400_000);
    for (const admission of admittedOf(admissions)) leaseOf(admission).settle(0);
    expect(await stores[0]?.peek(accountId, limitsOf({ tokensPerDay: 1000 }))).toMatchObject({
      tokensPerDay: { limit: 1000 },
    });
  });

  it('of a day and of a month begin each with the tokens of its own window', async () => {
    const store = await openOne({ since: () => Promise.resolve(900) });
    const accountId = randomUUID();
    const ofDay: Limit = { name: 'day', unit: 'tokens', window: 'day', max: 1_000 };
    const ofMonth: Limit = { name: 'month', unit: 'tokens', window: 'month', max: 50_000 };
    const limits = [{ ...ofMonth, usedBefore: () => Promise.resolve(4_950) }, ofDay];
    const lease = leaseOf(await store.admit({ accountId, limits, tokens: exactly(60) }));

    expect(await store.peek(accountId, limits)).toMatchObject({
      day: { remaining: 40 },
      month: { remaining: 44_990 },
    });
    lease.settle(10);
    await expect
      .poll(async () => (await store.peek(accountId, limits)).month?.remaining, { timeout: 5_000 })
      .toBe(45_040);
    expect(await store.admit({ accountId, limits, tokens: exactly(91) })).toMatchObject({ refusedBy: 'day' });
    expect((await store.admit({ accountId, limits, tokens: exactly(90) })).admitted).toBe(true);
  });

  it.each([NaN, Infinity, -5, 1e300, 1.5])('report whole numbers whatever is settled, such as %d', async (used) => {
    const store = await openOne();
    const [limits, accountId] = [{ tokensPerDay: 100 }, randomUUID()];
    leaseOf(await admit(store, accountId, limits, exactly(10))).settle(used);
    const left = used === 1.5 ? 98 : used === 1e300 ? 0 : 90;
    await expect
      .poll(async () => (await store.peek(accountId, limitsOf(limits))).tokensPerDay?.remaining, { timeout: 5_000 })
      .toBe(left);
    const { state } = await admit(store, accountId, limits);
    expect(Number.isSafeInteger(state.tokensPerDay?.remaining)).toBe(true);
  });

  it.each([
    [NaN, 100],
    [-5, 100],
    [1.4, 99],
    [1e300, 0],
    [3_000_000_000, 0],
  ])('take %d for what was used before as %d that are left', async (used, left) => {
    const store = await openOne({ since: () => Promise.resolve(used) });
    expect((await store.peek(randomUUID(), limitsOf({ tokensPerDay: 100 }))).tokensPerDay?.remaining).toBe(left);
  });

  it.each<[string, () => Promise<number>]>([
    ['fails', () => Promise.reject(new Error('unavailable'))],
    ['does not answer', () => new Promise(() => undefined)],
  ])('go on where the account of earlier use %s, and count from then on', async (_, since) => {
    const store = await openOne({ since });
    const accountId = randomUUID();
    const lease = leaseOf(await admit(store, accountId, { tokensPerDay: 100 }, exactly(60)));
    lease.settle(70);
    expect(await admit(store, accountId, { tokensPerDay: 100 }, exactly(31))).toMatchObject({
      refusedBy: 'tokensPerDay',
    });
    expect((await admit(store, accountId, { tokensPerDay: 100 }, exactly(30))).admitted).toBe(true);
  });

  it('say when to come again', async () => {
    const store = await openOne();
    const limits = { requestsPerMinute: 1, concurrentStreams: 9, tokensPerDay: 10 };
    const { accountId } = await burst([store], 1, limits, exactly(10));
    const byRequests = await admit(store, accountId, limits);
    const byTokens = await admit(store, accountId, limits, exactly(1));
    const secondsToMidnight = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);

    expect(byRequests).toMatchObject({ refusedBy: 'requestsPerMinute' });
    expect(byTokens).toMatchObject({ refusedBy: 'tokensPerDay' });
    const seconds = [byRequests, byTokens].map((answer) => (answer.admitted ? 0 : answer.retryAfterSeconds));
    expect(seconds[0]).toBeGreaterThan(50);
    expect(seconds[0]).toBeLessThanOrEqual(60);
    expect(Math.abs((seconds[1] ?? 0) - secondsToMidnight)).toBeLessThan(10);
  });
}
