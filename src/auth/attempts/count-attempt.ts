import { createHash } from 'node:crypto';
import { ServiceError } from '../../common/service-error.js';
import type { AttemptCounter } from './attempt-counters.js';

/** A counter, and the key to count under. */
export type Count = readonly [counter: AttemptCounter, key: string];

/** Takes an attempt back: from the given counters, or from all that have counted it. */
export type Withdraw = (from?: ReadonlySet<AttemptCounter>) => Promise<void>;

/**
 * Counts with all counters or with none.
 *
 * @param refusal the message when one of the limits is reached.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countAll(
  counts: readonly Count[],
  refusal = 'There were too many attempts. Try again later.',
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

/** The key of a counter. Addresses are personal data, so a counter never holds one as it is. */
export function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
