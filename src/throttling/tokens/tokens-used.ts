import type { BudgetPeriod } from '../../platform/config/limits/budget.js';
import { elapsedMs, sleep } from '../../platform/common/timers/pace.js';
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
 * Rounds a number of tokens to a whole number that every counter can store exactly. Returns `undefined` for a negative or
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

const TIMEOUT_MS = 1000;
/** After a failed lookup, no request waits for a lookup during this time. */
const COOLDOWN_MS = 5000;

/** Reads the start value of a counter from {@link TokensUsed}. Requests wait one second at most. */
export class TokensUsedLookup {
  private readonly pending = new Map<string, Promise<number | undefined>>();
  private failedUntil = -Infinity;

  constructor(private readonly tokensUsed: TokensUsed) {}

  /** Returns `undefined` when there is no valid value. Requests continue without the value, and a later request tries again. */
  async since(accountId: string, from: number, limit: Limit): Promise<number | undefined> {
    // Requests that arrive together share one lookup. Around midnight, there is one lookup for each day.
    const key = `${accountId} ${limit.key ?? ''} ${from}`;
    const pending = this.pending.get(key);
    if (pending !== undefined) return pending;
    if (elapsedMs() < this.failedUntil) return undefined;
    const lookup = this.read(accountId, new Date(from), limit).finally(() => this.pending.delete(key));
    this.pending.set(key, lookup);
    return lookup;
  }

  private async read(accountId: string, from: Date, limit: Limit): Promise<number | undefined> {
    const over = new AbortController();
    const late = sleep(TIMEOUT_MS, over).then(() => undefined);
    const value = await Promise.race([this.query(accountId, from, limit).catch(() => undefined), late]);
    over.abort();
    const used = value === undefined ? undefined : wholeTokens(value);
    if (used === undefined) this.failedUntil = elapsedMs() + COOLDOWN_MS;
    return used;
  }

  private async query(accountId: string, from: Date, limit: Limit): Promise<number> {
    if (limit.usedBefore !== undefined) return limit.usedBefore(from);
    const { key } = limit;
    return key === undefined ? this.tokensUsed.since(accountId, from) : this.tokensUsed.since(accountId, from, key);
  }
}
