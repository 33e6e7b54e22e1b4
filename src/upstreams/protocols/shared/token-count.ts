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
  const known = Object.entries(counts).filter(([, count]) => count !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}
