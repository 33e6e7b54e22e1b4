import { beforeEach, describe, expect, it } from 'vitest';
import type { TierLimits } from '../../../../src/platform/config/limits/limit-table.js';
import { AccountUse, statesOf } from '../../../../src/throttling/in-process/account-use.js';
import type { Limit } from '../../../../src/throttling/limit-store.js';
import { limitsOf } from '../../../../src/throttling/account-limits.js';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MINUTE_MS = 60_000;
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

  it('is nothing at first, even at the beginning of time', () => {
    expect(states(NOON)).toMatchObject({
      requestsPerMinute: { limit: 10, remaining: 10, resetSeconds: 60 },
      concurrentStreams: { limit: 4, remaining: 4 },
      tokensPerMinute: { limit: 300, remaining: 300, resetSeconds: 60 },
      tokensPerDay: { limit: 1000, remaining: 1000, resetSeconds: 43_200 },
    });
    use.count(limit('tokensPerDay'), 5, 1);
    expect(states(1)['tokensPerDay']?.remaining).toBe(995);
  });

  it('has no limits that the tier lacks', () => {
    expect(states(NOON, 1, {})).toEqual({});
  });

  it.each([
    ['requestsPerMinute', 10],
    ['tokensPerMinute', 300],
  ] as const)('counts %s from the first request, to the millisecond', (name, max) => {
    use.count(limit(name), 1, NOON);
    use.count(limit(name), 1, NOON + MINUTE_MS - 1);
    expect(states(NOON + MINUTE_MS - 1)[name]).toMatchObject({ limit: max, remaining: max - 2, resetSeconds: 1 });
    expect(states(NOON + MINUTE_MS)[name]).toMatchObject({ limit: max, remaining: max, resetSeconds: 60 });

    use.count(limit(name), 1, NOON + MINUTE_MS);
    expect(states(NOON + MINUTE_MS + 1)[name]).toMatchObject({ limit: max, remaining: max - 1, resetSeconds: 60 });
    expect(states(NOON + MINUTE_MS + 1001)[name]?.resetSeconds).toBe(59);
  });

  it('drops the tokens of yesterday at midnight', () => {
    const tokens = limit('tokensPerDay');
    use.count(tokens, 300, NOON);
    expect(states(NOON)['tokensPerDay']?.remaining).toBe(700);
    expect(states(NOON + DAY_MS / 2 - 1)['tokensPerDay']).toMatchObject({ remaining: 700, resetSeconds: 1 });
    expect(states(NOON + DAY_MS / 2)['tokensPerDay']).toMatchObject({ remaining: 1000, resetSeconds: 86_400 });
    use.count(tokens, 1, NOON + DAY_MS);
    expect(states(NOON + DAY_MS)['tokensPerDay']?.remaining).toBe(999);
  });

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

  it('leaves each replica its share, also of what was left when it began to count', () => {
    const tokens = limit('tokensPerDay');
    use.seed(tokens, 400, NOON);
    use.count(tokens, 50, NOON);
    Object.assign(use.held, { tokens: 10, streams: 1 });
    use.count(limit('requestsPerMinute'), 1, NOON);
    expect(states(NOON, 3)).toMatchObject({
      requestsPerMinute: { remaining: 3 },
      concurrentStreams: { remaining: 1 },
      tokensPerMinute: { remaining: 90 },
      tokensPerDay: { remaining: 200 - 50 - 10 },
    });
    use.seed(tokens, 2_000, NOON);
    expect(states(NOON, 3)['tokensPerDay']?.remaining).toBe(0);
    expect(states(NOON)['tokensPerDay']?.remaining).toBe(0);
  });

  it('may be removed when nothing is lost by it', () => {
    expect(use.isIdle(NOON, false)).toBe(true);

    for (const unit of ['streams', 'tokens'] as const) {
      use.held[unit] = 1;
      expect(use.isIdle(NOON, true)).toBe(false);
      use.held[unit] = 0;
    }

    use.count(limit('requestsPerMinute'), 1, NOON);
    expect(use.isIdle(NOON + MINUTE_MS - 1, true)).toBe(false);
    expect(use.isIdle(NOON + MINUTE_MS - 1, false)).toBe(false);
    expect(use.isIdle(NOON + MINUTE_MS, false)).toBe(true);

    use.count(limit('tokensPerDay'), 1, NOON);
    expect(use.isIdle(NOON + MINUTE_MS, false)).toBe(false);
    expect(use.isIdle(NOON + MINUTE_MS, true)).toBe(true);
    expect(use.isIdle(NOON + DAY_MS, false)).toBe(true);
  });
});
