import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptCounter, AttemptCounters } from '../../../src/auth/attempts/attempt-counters.js';
import { waitFor } from '../../support/wait-for.js';

/** The counters as one process has them. */
export interface OpenedCounters {
  readonly counters: AttemptCounters;
  close(): Promise<void>;
}

/** How many of so many attempts at once are allowed. */
export async function allowed(counter: AttemptCounter, key: string, attempts: number): Promise<number> {
  const counted = await Promise.all(Array.from({ length: attempts }, () => counter.count(key)));
  return counted.filter((each) => each.allowed).length;
}

/** What every implementation does. @param processes how many share the counters. */
export function describeAttemptCounters(where: string, open: () => Promise<OpenedCounters>, processes: number): void {
  describe(`attempts counted ${where}`, () => {
    let opened: OpenedCounters[];
    let name: string;

    beforeEach(async () => {
      opened = await Promise.all(Array.from({ length: processes }, open));
      name = randomUUID();
    });
    afterEach(() => Promise.all(opened.map((one) => one.close())));

    const counters = (limit: { attempts: number; withinSeconds: number }) =>
      opened.map((one) => one.counters.counter({ name, ...limit }));

    it('are as many as the limit allows, of any burst at all processes, and then refused', async () => {
      const all = counters({ attempts: 10, withinSeconds: 60 });
      const counts = await Promise.all(all.map((counter) => allowed(counter, 'ada', 10)));
      expect(counts.reduce((sum, count) => sum + count)).toBe(10);
      for (const counter of all) {
        const refused = await counter.count('ada');
        if (refused.allowed) throw new Error('It is allowed.');
        expect(refused.retryAfterMs).toBeGreaterThan(50_000);
        expect(refused.retryAfterMs).toBeLessThanOrEqual(60_000);
      }
    });

    it('are counted for each key and each limit by itself, whatever the key is', async () => {
      const [counter] = counters({ attempts: 2, withinSeconds: 60 });
      const other = opened[0]?.counters.counter({ name: `${name}-other`, attempts: 3, withinSeconds: 60 });
      if (counter === undefined || other === undefined) throw new Error('There is no process.');
      for (const key of ['', 'ada', 'ADA', ' ', 'a}{b:*', 'é\0', 'x'.repeat(5000)]) {
        expect(await allowed(counter, key, 5)).toBe(2);
        expect(await allowed(other, key, 5)).toBe(3);
      }
    });

    it('may be made again when they are withdrawn, at whichever process', async () => {
      const all = counters({ attempts: 3, withinSeconds: 60 });
      for (const counter of all) {
        for (let round = 0; round < 5; round++) {
          const counted = await Promise.all([counter.count('ada'), counter.count('ada'), counter.count('ada')]);
          for (const each of counted) {
            if (!each.allowed) throw new Error('It is refused.');
            await each.withdraw();
          }
        }
      }
    });

    it('do not count when they are refused, so that as many are allowed again when the others are withdrawn', async () => {
      const [counter] = counters({ attempts: 3, withinSeconds: 60 });
      if (counter === undefined) throw new Error('There is no process.');
      const counted = await Promise.all(Array.from({ length: 9 }, () => counter.count('ada')));
      for (const each of counted) if (each.allowed) await each.withdraw();
      expect(await allowed(counter, 'ada', 9)).toBe(3);
    });

    it('are allowed again when the time is over, and what is withdrawn then gives no more', async () => {
      const [counter] = counters({ attempts: 2, withinSeconds: 1 });
      if (counter === undefined) throw new Error('There is no process.');
      const first = await counter.count('ada');
      await waitFor(async () => {
        const counted = await counter.count('ada');
        return counted.allowed ? undefined : true;
      }, 'the limit to be reached');
      await waitFor(async () => (await counter.count('ada')).allowed, 'the time to be over');
      if (first.allowed) await first.withdraw();
      expect(await allowed(counter, 'ada', 5)).toBeLessThanOrEqual(2);
    });

    it('have a memory that all processes share, and that ends', async () => {
      const [first, ...others] = opened.map((one) => one.counters.memory(name, 2_592_000));
      expect(await first?.has('ada')).toBe(false);
      await first?.add('ada');
      for (const memory of [first, ...others]) {
        expect(await memory?.has('ada')).toBe(true);
        expect(await memory?.has('grace')).toBe(false);
      }
      const short = opened[0]?.counters.memory(`${name}-short`, 1);
      await short?.add('ada');
      expect(await short?.has('ada')).toBe(true);
      await waitFor(async () => (await short?.has('ada')) === false, 'its removal');
    });
  });
}
