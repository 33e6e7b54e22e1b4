import { beforeEach, describe, expect, it } from 'vitest';
import type { TierLimits } from '../../../../src/platform/config/limits/limit-table.js';
import { AccountUse, statesOf } from '../../../../src/throttling/in-process/account-use.js';
import type { Limit } from '../../../../src/throttling/limit-store.js';
import { limitsOf } from '../../../../src/throttling/account-limits.js';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 86_400_000;
const TIER: TierLimits = { requestsPerMinute: 10, concurrentStreams: 4, tokensPerMinute: 300, tokensPerDay: 1000 };

describe('the use of one account', () => {
  let use: AccountUse;

  beforeEach(() => {
    use = new AccountUse();
  });

  const limit = (name: keyof TierLimits): Limit => limitsOf(TIER).find((found) => found.name === name) as Limit;
  const states = (now: number, replicas = 1, tier = TIER) => {
    return statesOf(use.balances(limitsOf(tier), replicas, now), now);
  };

  it('drops at midnight what the ledger has recorded for yesterday, also if tokens are counted first', () => {
    const tokens = limit('tokensPerDay');
    use.seed(tokens, 400, NOON);
    use.count(tokens, 1, NOON + DAY_MS);
    expect(use.isSeeded(tokens, NOON + DAY_MS)).toBe(false);
    expect(states(NOON + DAY_MS, 2)['tokensPerDay']?.remaining).toBe(499);
  });

  it('adopts what the ledger has recorded, and never less than was counted here', () => {
    const tokens = limit('tokensPerDay');
    const remaining = () => states(NOON)['tokensPerDay']?.remaining;
    expect(use.isSeeded(tokens, NOON)).toBe(false);
    use.count(tokens, 100, NOON);
    use.seed(tokens, 40, NOON);
    expect(use.isSeeded(tokens, NOON)).toBe(true);
    expect(remaining()).toBe(900);
    use.seed(tokens, 400, NOON);
    expect(remaining()).toBe(600);
    expect(use.isSeeded(tokens, NOON + DAY_MS)).toBe(false);

    use.removeSeeds();
    expect(use.isSeeded(tokens, NOON)).toBe(false);
    expect(remaining()).toBe(600);
  });
});
