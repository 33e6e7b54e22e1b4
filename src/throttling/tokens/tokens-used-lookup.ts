import type { Limit } from '../limit-store.js';
import { type TokensUsed, wholeTokens } from './tokens-used.js';

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
    if (performance.now() < this.failedUntil) return undefined;
    const lookup = this.read(accountId, new Date(from), limit).finally(() => this.pending.delete(key));
    this.pending.set(key, lookup);
    return lookup;
  }

  private async read(accountId: string, from: Date, limit: Limit): Promise<number | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, TIMEOUT_MS, undefined);
    });
    const value = await Promise.race([this.query(accountId, from, limit).catch(() => undefined), timeout]);
    clearTimeout(timer);
    const used = value === undefined ? undefined : wholeTokens(value);
    if (used === undefined) this.failedUntil = performance.now() + COOLDOWN_MS;
    return used;
  }

  private async query(accountId: string, from: Date, limit: Limit): Promise<number> {
    if (limit.usedBefore !== undefined) return limit.usedBefore(from);
    const { key } = limit;
    return key === undefined ? this.tokensUsed.since(accountId, from) : this.tokensUsed.since(accountId, from, key);
  }
}
