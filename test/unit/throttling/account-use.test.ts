import { beforeEach, describe, expect, it } from 'vitest';
import { AccountUse } from '../../../src/throttling/in-process/account-use.js';
import type { TierLimits } from '../../../src/throttling/limit-store.js';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LIMITS: TierLimits = { requestsPerMinute: 10, concurrentStreams: 4, tokensPerDay: 1000 };

describe('what one account uses', () => {
  let use: AccountUse;

  beforeEach(() => {
    use = new AccountUse();
  });

  const state = (now: number, replicas = 1, limits = LIMITS) => use.state(limits, replicas, now);

  it('is nothing at first, even at the beginning of time', () => {
    expect(state(NOON)).toEqual({
      requests: { limit: 10, remaining: 10, resetSeconds: 60 },
      streams: { limit: 4, remaining: 4 },
      tokens: { limit: 1000, remaining: 1000, resetSeconds: 43_200, renewsAt: new Date(NOON + DAY_MS / 2) },
    });
    use.addTokens(5, 1);
    expect(state(1).tokens?.remaining).toBe(995);
  });

  it('has no limits that the tier lacks', () => {
    expect(state(NOON, 1, {})).toEqual({ requests: undefined, streams: undefined, tokens: undefined });
  });

  it('counts requests for a minute from the first, to the millisecond', () => {
    use.countRequest(NOON);
    use.countRequest(NOON + MINUTE_MS - 1);
    expect(state(NOON + MINUTE_MS - 1).requests).toEqual({ limit: 10, remaining: 8, resetSeconds: 1 });
    expect(state(NOON + MINUTE_MS).requests).toEqual({ limit: 10, remaining: 10, resetSeconds: 60 });

    use.countRequest(NOON + MINUTE_MS);
    expect(state(NOON + MINUTE_MS + 1).requests).toEqual({ limit: 10, remaining: 9, resetSeconds: 60 });
    expect(state(NOON + MINUTE_MS + 1001).requests?.resetSeconds).toBe(59);
  });

  it('forgets the tokens of yesterday at midnight', () => {
    use.addTokens(300, NOON);
    expect(state(NOON).tokens?.remaining).toBe(700);
    expect(state(NOON + DAY_MS).tokens?.remaining).toBe(1000);
    use.addTokens(1, NOON + DAY_MS);
    expect(state(NOON + DAY_MS).tokens?.remaining).toBe(999);
  });

  it('forgets at midnight what the ledger knew of yesterday, also where tokens are counted first', () => {
    use.learnTokens(400, NOON);
    use.addTokens(1, NOON + DAY_MS);
    expect(use.knowsTokens(NOON + DAY_MS)).toBe(false);
    expect(state(NOON + DAY_MS, 2).tokens?.remaining).toBe(499);
  });

  it('learns what the ledger knows, and never less than was counted here', () => {
    expect(use.knowsTokens(NOON)).toBe(false);
    use.addTokens(100, NOON);
    use.learnTokens(40, NOON);
    expect(use.knowsTokens(NOON)).toBe(true);
    expect(state(NOON).tokens?.remaining).toBe(900);
    use.learnTokens(400, NOON);
    expect(state(NOON).tokens?.remaining).toBe(600);
    expect(use.knowsTokens(NOON + DAY_MS)).toBe(false);

    use.forgetLearntTokens();
    expect(use.knowsTokens(NOON)).toBe(false);
    expect(state(NOON).tokens?.remaining).toBe(600);
  });

  it('leaves each replica its share, also of what was left when it began to count', () => {
    use.learnTokens(400, NOON);
    use.addTokens(50, NOON);
    use.tokensReserved = 10;
    use.streams = 1;
    use.countRequest(NOON);
    expect(state(NOON, 3)).toMatchObject({
      requests: { remaining: 3 },
      streams: { remaining: 1 },
      tokens: { remaining: 200 - 50 - 10 },
    });
  });

  it.each([
    ['tokens', { tokens: 1, requests: 0, streams: 0 }],
    ['requests', { tokens: 2, requests: 0, streams: 0 }],
    ['streams', { tokens: 2, requests: 1, streams: 0 }],
    [undefined, { tokens: 2, requests: 1, streams: 1 }],
  ] as const)('is refused by %s where %j are left and two tokens are needed', (refusedBy, left) => {
    const limitState = {
      requests: { limit: 9, remaining: left.requests, resetSeconds: 1 },
      streams: { limit: 9, remaining: left.streams },
      tokens: { limit: 9, remaining: left.tokens, resetSeconds: 1 },
    };
    expect(use.refusedBy(limitState, { atLeast: 2, atMost: 5 })).toBe(refusedBy);
  });

  it('may be forgotten when nothing is lost by it', () => {
    expect(use.isIdle(NOON, false)).toBe(true);

    use.streams = 1;
    expect(use.isIdle(NOON, true)).toBe(false);
    use.streams = 0;
    use.tokensReserved = 1;
    expect(use.isIdle(NOON, true)).toBe(false);
    use.tokensReserved = 0;

    use.countRequest(NOON);
    expect(use.isIdle(NOON + MINUTE_MS - 1, true)).toBe(false);
    expect(use.isIdle(NOON + MINUTE_MS, false)).toBe(true);

    use.addTokens(1, NOON);
    expect(use.isIdle(NOON + MINUTE_MS, false)).toBe(false);
    expect(use.isIdle(NOON + MINUTE_MS, true)).toBe(true);
    expect(use.isIdle(NOON + DAY_MS, false)).toBe(true);
  });
});
