import { periodOf, type BudgetPeriod } from '../../config/limits/budget.js';
import type { Limit } from '../limit-store.js';

/** A limit whose counter starts from the ledger. */
export type SeededLimit = Limit & { readonly window: BudgetPeriod };

/**
 * Returns the limits whose counters start from the ledger: those of the tokens of a day or of a month. The ledger has the sums of
 * days, so shorter windows start from 0.
 */
export function seededLimits(limits: readonly Limit[]): readonly SeededLimit[] {
  return limits.filter(
    (limit): limit is SeededLimit => limit.unit === 'tokens' && (limit.window === 'day' || limit.window === 'month'),
  );
}

/** Returns the current window of the limit, in milliseconds since 1970. */
export function windowOf({ window }: SeededLimit, now: number): ReturnType<typeof periodOf> {
  return periodOf(window, now);
}
