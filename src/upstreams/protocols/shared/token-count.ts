import type { TokenUsage } from '../../contract/stream-part.js';

/**
 * Returns a token count of a provider, or `undefined` for a value that is not a number. A number that cannot be a count,
 * such as -5 or 1.5, becomes infinity: the ledger then marks the count as implausible instead of missing.
 *
 * @since 1.0
 */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== 'number') return undefined;
  return Number.isInteger(value) && value >= 0 ? value : Infinity;
}

/**
 * Returns the known counts. Returns `undefined` when all counts are missing.
 *
 * @since 1.0
 */
export function tokenUsage(counts: TokenUsage): TokenUsage | undefined {
  const known: Partial<Record<keyof TokenUsage, number>> = {};
  let isEmpty = true;
  for (const name of Object.keys(counts) as (keyof TokenUsage)[]) {
    const count = counts[name];
    if (count === undefined) continue;
    known[name] = count;
    isEmpty = false;
  }
  return isEmpty ? undefined : known;
}

/** Returns the later of two counts. A later 0 replaces no count: some providers send 0 for a count that they do not repeat. */
export function laterCount(before: number | undefined, now: number | undefined): number | undefined {
  return now === undefined || (now === 0 && before !== undefined) ? before : now;
}

/** Returns the later of the counts of two parts of an answer. */
export function laterUsage(before: TokenUsage, now: TokenUsage): TokenUsage {
  const counts: Partial<Record<keyof TokenUsage, number | undefined>> = { ...before };
  for (const name of Object.keys(now) as (keyof TokenUsage)[]) counts[name] = laterCount(counts[name], now[name]);
  return counts;
}

type WholeCounts = Pick<TokenUsage, 'inputTokens' | 'outputTokens'>;

/**
 * Returns the counts of the prompt and of the answer so that they add up to the total of the provider. Some providers leave
 * reasoning out of the count of the answer, but not out of the total. A total that is not above the prompt decides nothing.
 */
export function agreedCounts(
  input: number | undefined,
  output: number | undefined,
  total: number | undefined,
): WholeCounts {
  const counts = { inputTokens: input, outputTokens: output };
  if (total === undefined || !Number.isFinite(total)) return counts;
  if (input === undefined)
    return output !== undefined && total > output ? { ...counts, inputTokens: total - output } : counts;
  return total > input ? { ...counts, outputTokens: total - input } : counts;
}
