import type { Limit } from '../limit-store.js';

/**
 * Returns the limit whose counter starts from the ledger: the one of the tokens of a day. The ledger has the sums of days, so
 * shorter windows start from 0.
 */
export function seededLimit(limits: readonly Limit[]): Limit | undefined {
  return limits.find(({ unit, window }) => unit === 'tokens' && window === 'day');
}
