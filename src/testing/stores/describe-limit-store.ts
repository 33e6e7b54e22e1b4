import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { TierLimits } from '../../platform/config/limits/limit-table.js';
import type { Admission, TokenDemand } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/account-limits.js';
import { describeKeyLimits } from './describe-key-limits.js';
import { describeLimitSequences } from './describe-limit-sequences.js';
import { describeTokenLimits } from './describe-token-limits.js';
import {
  admit,
  admittedOf,
  burst,
  exactly,
  leaseOf,
  limitStores,
  NO_TOKENS,
  type LimitStoreContract,
} from './limit-stores.js';

const refusalsOf = (admissions: readonly Admission[]) =>
  new Set(admissions.map((admission) => (admission.admitted ? undefined : admission.refusedBy)));

/**
 * Describes the tests that every `LimitStore` must pass. Call this function in a test file of vitest.
 *
 * @experimental
 * @since 1.0
 *
 * @example
 * ```ts
 * describeLimitStore({ name: 'in our store', open: (tokensUsed) => ({ store: new OurLimitStore(tokensUsed) }) });
 * ```
 */
export function describeLimitStore(contract: LimitStoreContract): void {
  describe(`the limits counted ${contract.name}`, () => {
    const stores = limitStores(contract);
    const { openAll, openOne } = stores;

    it.each<[string, TierLimits, TokenDemand]>([
      ['requestsPerMinute', { requestsPerMinute: 20 }, NO_TOKENS],
      ['concurrentStreams', { concurrentStreams: 20 }, NO_TOKENS],
      ['tokensPerMinute', { tokensPerMinute: 200 }, exactly(10)],
      ['tokensPerDay', { tokensPerDay: 200 }, exactly(10)],
    ])('admit exactly as many requests of a burst as %s allows', async (limit, limits, tokens) => {
      const { admissions } = await burst(await openAll(), 100, limits, tokens);
      expect(admittedOf(admissions)).toHaveLength(20);
      expect(refusalsOf(admissions)).toEqual(new Set([undefined, limit]));
    });

    it('let in everything where there is none', async () => {
      const { admissions } = await burst(await openAll(), 50, {});
      expect(admittedOf(admissions)).toHaveLength(50);
      expect(admissions[0]?.state).toEqual({});
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
      const before = await store.peek(accountId, limitsOf(limits));

      const refused = [
        await admit(store, accountId, limits, exactly(1)),
        await admit(store, accountId, { ...limits, concurrentStreams: 9 }, exactly(701)),
        await admit(store, accountId, { ...limits, requestsPerMinute: 3, concurrentStreams: 9 }, exactly(1)),
      ];

      expect(refused.map((refusal) => (refusal.admitted ? undefined : refusal.refusedBy))).toEqual([
        'concurrentStreams',
        'tokensPerDay',
        'requestsPerMinute',
      ]);
      expect(await store.peek(accountId, limitsOf(limits))).toEqual({
        ...before,
        ...{
          requestsPerMinute: expect.objectContaining({ remaining: 47 }) as unknown,
          tokensPerDay: expect.objectContaining({ remaining: 700 }) as unknown,
        },
      });
      expect(before).toMatchObject({
        requestsPerMinute: { remaining: 47 },
        concurrentStreams: { remaining: 0 },
        tokensPerDay: { remaining: 700 },
      });
      expect(admittedOf(admissions)).toHaveLength(3);
    });

    it('get requests back by a negative cost, and never more than were counted', async () => {
      const [first, second = first] = await openAll();
      if (first === undefined || second === undefined) throw new Error('No store.');
      const limits = { requestsPerMinute: 3 };
      const { accountId } = await burst([first], 3, limits);
      const giveBack = (cost: number) =>
        second.admit({ accountId, limits: limitsOf(limits).map((limit) => ({ ...limit, cost })), tokens: NO_TOKENS });

      const given = await giveBack(-1);
      expect(given.state).toMatchObject({ requestsPerMinute: { remaining: 1 } });
      expect((await admit(first, accountId, limits)).admitted).toBe(true);
      expect((await admit(first, accountId, limits)).admitted).toBe(false);

      await giveBack(-9);
      expect(await first.peek(accountId, limitsOf(limits))).toMatchObject({ requestsPerMinute: { remaining: 3 } });
    });

    it('release a slot once, however often it is released', async () => {
      const [first, second = first] = await openAll();
      if (first === undefined || second === undefined) throw new Error('No store.');
      const limits = { concurrentStreams: 2 };
      const { accountId, admissions } = await burst([first], 2, limits);
      const lease = leaseOf(admissions[0] as Admission);
      lease.release();
      lease.release();
      // Behind the release on the same connection.
      expect(await first.peek(accountId, limitsOf(limits))).toMatchObject({ concurrentStreams: { remaining: 1 } });

      expect((await admit(second, accountId, limits)).admitted).toBe(true);
      expect((await admit(first, accountId, limits)).admitted).toBe(false);
    });

    describeTokenLimits(stores);
    describeKeyLimits(stores);
    describeLimitSequences(stores);
  });
}
