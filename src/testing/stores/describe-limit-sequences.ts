import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Lease, LimitStore } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/account-limits.js';
import { admit, type LimitStores } from './limit-stores.js';

/** Describes that the limits hold after arbitrary sequences of requests. */
export function describeLimitSequences({ openAll, replicas }: LimitStores): void {
  it('hold after any sequence of admissions, releases and settlements', async () => {
    const stores = await openAll();
    const limits = { requestsPerMinute: 12, concurrentStreams: 3, tokensPerMinute: 450, tokensPerDay: 500 };
    const step = fc.record({
      store: fc.nat(replicas - 1),
      act: fc.constantFrom('admit', 'release', 'settle'),
      tokens: fc.nat(150),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const accountId = randomUUID();
        const leases: { lease: Lease; holdsSlot: boolean; reserved: number; isSettled: boolean; store: LimitStore }[] =
          [];
        let requests = 0;
        let used = 0;
        for (const { store: number, act, tokens, which } of steps) {
          const store = stores[number] as LimitStore;
          const chosen = leases[which % Math.max(1, leases.length)];
          if (act === 'release' && chosen !== undefined) {
            chosen.lease.release();
            chosen.holdsSlot = false;
            await chosen.store.peek(accountId, limitsOf(limits));
          } else if (act === 'settle' && chosen !== undefined) {
            chosen.lease.settle(tokens);
            if (!chosen.isSettled) used += tokens;
            chosen.isSettled = true;
            chosen.reserved = 0;
            await chosen.store.peek(accountId, limitsOf(limits));
          } else if (act === 'admit') {
            const streams = leases.filter(({ holdsSlot }) => holdsSlot).length;
            const held = leases.reduce((sum, { reserved }) => sum + reserved, 0);
            const left = (limit: number) => Math.max(0, limit - used - held);
            const refusals: [string, boolean][] = [
              ['tokensPerDay', left(limits.tokensPerDay) < tokens],
              ['requestsPerMinute', requests >= limits.requestsPerMinute],
              ['tokensPerMinute', left(limits.tokensPerMinute) < tokens],
              ['concurrentStreams', streams >= limits.concurrentStreams],
            ];
            const expected = refusals.find(([, refuses]) => refuses)?.[0];
            const admission = await admit(store, accountId, limits, { atLeast: tokens, atMost: tokens + 20 });
            expect(admission.admitted ? undefined : admission.refusedBy).toBe(expected);
            if (!admission.admitted) continue;
            requests += 1;
            const reserved = admission.lease.tokens ?? -1;
            expect(reserved).toBe(Math.min(tokens + 20, left(limits.tokensPerMinute)));
            leases.push({ lease: admission.lease, holdsSlot: true, reserved, isSettled: false, store });
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
}
