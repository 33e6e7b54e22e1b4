import type { Limit } from '../limit-store.js';

/**
 * Returns the limits whose counters start from the ledger: those of the tokens of a day. The ledger has the sums of days, so
 * shorter windows start from 0.
 */
export function seededLimits(limits: readonly Limit[]): readonly Limit[] {
  return limits.filter(({ unit, window }) => unit === 'tokens' && window === 'day');
}
