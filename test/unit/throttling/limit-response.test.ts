import { describe, expect, it } from 'vitest';
import { refusalError, setLimitHeaders } from '../../../src/throttling/limit-response.js';
import type { LimitStates, Refusal } from '../../../src/throttling/limit-store.js';

const refusal = (refusedBy: string, state: LimitStates = {}): Refusal => ({
  admitted: false,
  refusedBy,
  retryAfterSeconds: 9,
  state,
});
const tokens = (remaining: number) => ({ limit: 500, remaining, resetSeconds: 9 });

describe('a refusal', () => {
  it.each<[Refusal, number | undefined, string, string]>([
    [
      refusal('requestsPerMinute', { requestsPerMinute: { limit: 20, remaining: 0, resetSeconds: 9 } }),
      undefined,
      'rate_limit_exceeded',
      'The tier allows 20 requests per minute.',
    ],
    [
      refusal('concurrentStreams', { concurrentStreams: { limit: 3, remaining: 0 } }),
      undefined,
      'concurrency_limit_exceeded',
      'The tier allows 3 concurrent streams.',
    ],
    [
      refusal('tokensPerDay', { tokensPerDay: tokens(7) }),
      30,
      'quota_exceeded',
      'The tier allows 500 tokens per day. 7 remain until midnight UTC, and this request needs 30.',
    ],
    [
      refusal('tokensPerMinute', { tokensPerMinute: tokens(0) }),
      undefined,
      'rate_limit_exceeded',
      'The tier allows 500 tokens per minute. 0 remain in this minute.',
    ],
    [refusal('requestsPerMinute'), undefined, 'rate_limit_exceeded', 'The tier allows 0 requests per minute.'],
    [refusal('ourBudget'), undefined, 'rate_limit_exceeded', 'The limit ourBudget of the account is reached.'],
  ])('says which limit it was, and when to retry (%#)', (given, needed, code, message) => {
    expect(refusalError(given, needed)).toMatchObject({ code, retryAfterSeconds: 9, message });
  });
});

describe('the headers of the limits', () => {
  it('are those of the limits that the tier has', () => {
    const headers: Record<string, unknown> = {};
    const response = { req: { context: {} }, setHeader: (name: string, value: unknown) => (headers[name] = value) };
    setLimitHeaders(response as never, 'X-RateLimit', {});
    expect(headers).toEqual({});

    setLimitHeaders(response as never, 'X-RateLimit', {
      requestsPerMinute: { limit: 1, remaining: 2, resetSeconds: 3 },
      concurrentStreams: { limit: 7, remaining: 8 },
      tokensPerMinute: { limit: 9, remaining: 10, resetSeconds: 11 },
      tokensPerDay: { limit: 4, remaining: 5, resetSeconds: 6 },
      ourBudget: { limit: 1, remaining: 1, resetSeconds: 1 },
    });
    expect(headers).toEqual({
      'X-RateLimit-Limit': 1,
      'X-RateLimit-Remaining': 2,
      'X-RateLimit-Reset': 3,
      'X-RateLimit-Limit-Tokens-Minute': 9,
      'X-RateLimit-Remaining-Tokens-Minute': 10,
      'X-RateLimit-Reset-Tokens-Minute': 11,
      'X-RateLimit-Limit-Tokens': 4,
      'X-RateLimit-Remaining-Tokens': 5,
      'X-RateLimit-Reset-Tokens': 6,
    });
  });
});
