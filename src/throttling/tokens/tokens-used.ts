import { periodOf, type BudgetPeriod } from '../../platform/config/limits/budget.js';
import type { Limit } from '../limit-store.js';

/**
 * Returns the recorded number of tokens that an account has used. Called once per day and account, when the counters do not
 * have a value yet. The class is the injection token.
 *
 * @experimental
 * @since 1.0
 */
export abstract class TokensUsed {
  /**
   * Returns the tokens of the prompts and answers of streams that began at `from` or later.
   *
   * @param key when given, only streams of this API key and of the keys that have replaced it.
   */
  abstract since(accountId: string, from: Date, key?: string): Promise<number>;
}

/**
 * PeriodicTask a number of tokens to a whole number that every counter can store exactly. Returns `undefined` for a negative or
 * non-finite number, which a plugin may return.
 */
export function wholeTokens(tokens: number): number | undefined {
  if (!Number.isFinite(tokens) || tokens < 0) return undefined;
  return Math.min(Math.round(tokens), Number.MAX_SAFE_INTEGER);
}

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
