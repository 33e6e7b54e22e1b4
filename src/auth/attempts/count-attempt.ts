import { createHash } from 'node:crypto';
import { ServiceError } from '../../common/service-error.js';
import type { AttemptCounter } from './attempt-counters.js';

/** A counter, and the key that it counts. */
export type Count = readonly [counter: AttemptCounter, key: string];

/** Takes an attempt back, from the given counters or from all counters that have counted the attempt. */
export type Withdraw = (from?: ReadonlySet<AttemptCounter>) => Promise<void>;

/**
 * Counts an attempt with all counters. When one limit is reached, no counter keeps the attempt.
 *
 * @param refusal the error message when one of the limits is reached.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countAll(
  counts: readonly Count[],
  refusal = 'Too many attempts. Try again later.',
): Promise<Withdraw> {
  const withdrawals = new Map<AttemptCounter, () => Promise<void>>();
  const withdraw: Withdraw = async (from) => {
    const chosen = [...withdrawals].filter(([counter]) => from?.has(counter) ?? true);
    await Promise.all(chosen.map(([, each]) => each()));
  };
  for (const [counter, key] of counts) {
    const counted = await counter.count(key);
    if (!counted.allowed) {
      await withdraw();
      throw new ServiceError('rate_limit_exceeded', refusal, {
        retryAfterSeconds: Math.max(1, Math.ceil(counted.retryAfterMs / 1000)),
      });
    }
    withdrawals.set(counter, () => counted.withdraw());
  }
  return withdraw;
}

/** Returns a hash of the text as the key of a counter. Addresses are personal data, so counters store only hashes. */
export function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
