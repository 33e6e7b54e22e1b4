import type { UnsharedLimits } from '../../src/usage/store/unshared-limits.js';

/** The check of a ledger that has the database for itself. */
export const SHARED_LIMITS = { check: () => Promise.resolve() } as UnsharedLimits;
