import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Admission, Lease, LimitStore, TierLimits, TokenDemand } from '../../../src/throttling/limit-store.js';
import type { TokensUsed } from '../../../src/throttling/tokens/tokens-used.js';
import type { OpenedStore } from './limit-stores.js';

const NO_TOKENS: TokenDemand = { atLeast: 0, atMost: 0 };
const exactly = (tokens: number): TokenDemand => ({ atLeast: tokens, atMost: tokens });

/**
 * What every store of limits has to do.
 *
 * @param open gives a store; those of one test share what they count, where the kind can.
 */
export function describeLimitStore(
  name: string,
  open: (tokensUsed?: TokensUsed) => Promise<OpenedStore>,
  storesAtOnce: number,
): void {
  describe(`the limits counted ${name}`, () => {
    const opened: OpenedStore[] = [];
    const openAll = async (tokensUsed?: TokensUsed): Promise<LimitStore[]> => {
      const stores = await Promise.all(Array.from({ length: storesAtOnce }, () => open(tokensUsed)));
      opened.push(...stores);
      return stores.map(({ store }) => store);
    };
    const openOne = async (tokensUsed?: TokensUsed): Promise<LimitStore> => {
      const one = await open(tokensUsed);
      opened.push(one);
      return one.store;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((one) => one.close()));
    });

    const admit = (store: LimitStore, accountId: string, limits: TierLimits, tokens = NO_TOKENS) =>
      store.admit({ accountId, limits, tokens });
    const burst = async (stores: readonly LimitStore[], count: number, limits: TierLimits, tokens = NO_TOKENS) => {
      const accountId = randomUUID();
      const admissions = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          admit(stores[index % stores.length] as LimitStore, accountId, limits, tokens),
        ),
      );
      return { accountId, admissions };
    };
    const admittedOf = (admissions: readonly Admission[]) => admissions.filter(({ admitted }) => admitted);
    const refusalsOf = (admissions: readonly Admission[]) =>
      new Set(admissions.map((admission) => (admission.admitted ? undefined : admission.refusedBy)));
    const leaseOf = (admission: Admission): Lease => {
      if (!admission.admitted) throw new Error(`Refused by ${admission.refusedBy}.`);
      return admission.lease;
    };

    it.each<[string, TierLimits, TokenDemand]>([
      ['requests', { requestsPerMinute: 20 }, NO_TOKENS],
      ['streams', { concurrentStreams: 20 }, NO_TOKENS],
      ['tokens', { tokensPerDay: 200 }, exactly(10)],
    ])('let in exactly as many of a burst as there are %s', async (limit, limits, tokens) => {
      const { admissions } = await burst(await openAll(), 100, limits, tokens);
      expect(admittedOf(admissions)).toHaveLength(20);
      expect(refusalsOf(admissions)).toEqual(new Set([undefined, limit]));
    });

    it('let in everything where there is none', async () => {
      const { admissions } = await burst(await openAll(), 50, {});
      expect(admittedOf(admissions)).toHaveLength(50);
      expect(admissions[0]?.state).toEqual({ requests: undefined, streams: undefined, tokens: undefined });
    });

    it('of one account are not those of another', async () => {
      const store = await openOne();
      for (let account = 0; account < 5; account++) {
        expect((await admit(store, randomUUID(), { requestsPerMinute: 1 })).admitted).toBe(true);
      }
    });

    it('use up nothing of the others when one refuses', async () => {
      const store = await openOne();
      const limits = { requestsPerMinute: 50, concurrentStreams: 3, tokensPerDay: 1000 };
      const { accountId, admissions } = await burst([store], 3, limits, exactly(100));
      const before = await store.peek(accountId, limits);

      const refused = [
        await admit(store, accountId, limits, exactly(1)),
        await admit(store, accountId, { ...limits, concurrentStreams: 9 }, exactly(701)),
        await admit(store, accountId, { ...limits, requestsPerMinute: 3, concurrentStreams: 9 }, exactly(1)),
      ];

      expect(refused.map((refusal) => (refusal.admitted ? undefined : refusal.refusedBy))).toEqual([
        'streams',
        'tokens',
        'requests',
      ]);
      expect(await store.peek(accountId, limits)).toEqual({
        ...before,
        ...{
          requests: expect.objectContaining({ remaining: 47 }) as unknown,
          tokens: expect.objectContaining({ remaining: 700 }) as unknown,
        },
      });
      expect(before).toMatchObject({
        requests: { remaining: 47 },
        streams: { remaining: 0 },
        tokens: { remaining: 700 },
      });
      expect(admittedOf(admissions)).toHaveLength(3);
    });

    it('give a place back once, however often it is released', async () => {
      const [first, second = first] = await openAll();
      if (first === undefined || second === undefined) throw new Error('No store.');
      const limits = { concurrentStreams: 2 };
      const { accountId, admissions } = await burst([first], 2, limits);
      const lease = leaseOf(admissions[0] as Admission);
      lease.release();
      lease.release();
      // Behind the release on the same connection.
      expect(await first.peek(accountId, limits)).toMatchObject({ streams: { remaining: 1 } });

      expect((await admit(second, accountId, limits)).admitted).toBe(true);
      expect((await admit(first, accountId, limits)).admitted).toBe(false);
    });

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
      expect(await admit(store, accountId, limits, exactly(1))).toMatchObject({ admitted: false, refusedBy: 'tokens' });
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

      expect(await store.peek(accountId, limits)).toMatchObject({ tokens: { remaining: 1000 - 50 - 300 } });
      third?.settle(2000);
      expect(await store.peek(accountId, limits)).toMatchObject({ tokens: { remaining: 0 } });
      expect(await admit(store, accountId, limits, exactly(1))).toMatchObject({ refusedBy: 'tokens' });
    });

    it('keep the place of a stream whose tokens are settled, and the tokens of one whose place is given back', async () => {
      const store = await openOne();
      const limits = { concurrentStreams: 2, tokensPerDay: 100 };
      const { accountId, admissions } = await burst([store], 2, limits, exactly(30));
      admissions.map(leaseOf)[0]?.settle(10);
      admissions.map(leaseOf)[1]?.release();
      expect(await store.peek(accountId, limits)).toMatchObject({
        streams: { remaining: 1 },
        tokens: { remaining: 60 },
      });
    });

    it('begin with the tokens that were used before, asked for once and counted once', async () => {
      const asked: Date[] = [];
      const stores = await openAll({
        async since(_, from) {
          asked.push(from);
          await new Promise((resolve) => setTimeout(resolve, 20));
          return 900;
        },
      });
      const { accountId, admissions } = await burst(stores, 30, { tokensPerDay: 1000 }, exactly(10));

      expect(admittedOf(admissions)).toHaveLength(10);
      expect(asked.length).toBeLessThanOrEqual(stores.length);
      expect(asked[0]?.getTime()).toBe(Math.floor(Date.now() / 86_400_000) * 86_400_000);
      for (const admission of admittedOf(admissions)) leaseOf(admission).settle(0);
      expect(await stores[0]?.peek(accountId, { tokensPerDay: 1000 })).toMatchObject({ tokens: { limit: 1000 } });
    });

    it.each([NaN, Infinity, -5, 1e300, 1.5])('tell whole numbers whatever is settled, such as %d', async (used) => {
      const store = await openOne();
      const [limits, accountId] = [{ tokensPerDay: 100 }, randomUUID()];
      leaseOf(await admit(store, accountId, limits, exactly(10))).settle(used);
      const left = used === 1.5 ? 98 : used === 1e300 ? 0 : 90;
      await expect
        .poll(async () => (await store.peek(accountId, limits)).tokens?.remaining, { timeout: 5_000 })
        .toBe(left);
      const { state } = await admit(store, accountId, limits);
      expect(Number.isSafeInteger(state.tokens?.remaining)).toBe(true);
    });

    it.each([
      [NaN, 100],
      [-5, 100],
      [1.4, 99],
      [1e300, 0],
      [3_000_000_000, 0],
    ])('take %d for what was used before as %d that are left', async (used, left) => {
      const store = await openOne({ since: () => Promise.resolve(used) });
      expect((await store.peek(randomUUID(), { tokensPerDay: 100 })).tokens?.remaining).toBe(left);
    });

    it.each<[string, () => Promise<number>]>([
      ['fails', () => Promise.reject(new Error('unavailable'))],
      ['does not answer', () => new Promise(() => undefined)],
    ])('go on where the account of earlier use %s, and count from then on', async (_, since) => {
      const store = await openOne({ since });
      const accountId = randomUUID();
      const lease = leaseOf(await admit(store, accountId, { tokensPerDay: 100 }, exactly(60)));
      lease.settle(70);
      expect(await admit(store, accountId, { tokensPerDay: 100 }, exactly(31))).toMatchObject({ refusedBy: 'tokens' });
      expect((await admit(store, accountId, { tokensPerDay: 100 }, exactly(30))).admitted).toBe(true);
    });

    it('say when to come again', async () => {
      const store = await openOne();
      const limits = { requestsPerMinute: 1, concurrentStreams: 9, tokensPerDay: 10 };
      const { accountId } = await burst([store], 1, limits, exactly(10));
      const byRequests = await admit(store, accountId, limits);
      const byTokens = await admit(store, accountId, limits, exactly(1));
      const secondsToMidnight = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);

      expect(byRequests).toMatchObject({ refusedBy: 'requests' });
      expect(byTokens).toMatchObject({ refusedBy: 'tokens' });
      const seconds = [byRequests, byTokens].map((answer) => (answer.admitted ? 0 : answer.retryAfterSeconds));
      expect(seconds[0]).toBeGreaterThan(50);
      expect(seconds[0]).toBeLessThanOrEqual(60);
      expect(Math.abs((seconds[1] ?? 0) - secondsToMidnight)).toBeLessThan(10);
      expect(byTokens.state.tokens?.renewsAt?.getTime()).toBe((Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000);
    });

    it('hold after any sequence of admissions, releases and settlements', async () => {
      const stores = await openAll();
      const limits = { requestsPerMinute: 12, concurrentStreams: 3, tokensPerDay: 500 };
      const step = fc.record({
        store: fc.nat(storesAtOnce - 1),
        act: fc.constantFrom('admit', 'release', 'settle'),
        tokens: fc.nat(150),
        which: fc.nat(20),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const accountId = randomUUID();
          const leases: { lease: Lease; placed: boolean; reserved: number; isSettled: boolean; store: LimitStore }[] =
            [];
          let requests = 0;
          let used = 0;
          for (const { store: number, act, tokens, which } of steps) {
            const store = stores[number] as LimitStore;
            const chosen = leases[which % Math.max(1, leases.length)];
            if (act === 'release' && chosen !== undefined) {
              chosen.lease.release();
              chosen.placed = false;
              await chosen.store.peek(accountId, limits);
            } else if (act === 'settle' && chosen !== undefined) {
              chosen.lease.settle(tokens);
              if (!chosen.isSettled) used += tokens;
              chosen.isSettled = true;
              chosen.reserved = 0;
              await chosen.store.peek(accountId, limits);
            } else if (act === 'admit') {
              const streams = leases.filter(({ placed }) => placed).length;
              const left = Math.max(0, 500 - used - leases.reduce((sum, { reserved }) => sum + reserved, 0));
              const expected =
                left < tokens ? 'tokens' : requests >= 12 ? 'requests' : streams >= 3 ? 'streams' : undefined;
              const admission = await admit(store, accountId, limits, { atLeast: tokens, atMost: tokens + 20 });
              expect(admission.admitted ? undefined : admission.refusedBy).toBe(expected);
              if (!admission.admitted) continue;
              requests += 1;
              const reserved = admission.lease.tokens ?? -1;
              expect(reserved).toBe(Math.min(tokens + 20, left));
              leases.push({ lease: admission.lease, placed: true, reserved, isSettled: false, store });
            }
          }
          for (const { lease } of leases) {
            lease.release();
            lease.settle(0);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
