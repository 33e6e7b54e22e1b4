import { describe, expect, it } from 'vitest';
import { refusalError, setLimitHeaders } from '../../../src/throttling/limit-response.js';
import type { LimitStates, Refusal, TokenDemand } from '../../../src/throttling/limit-store.js';

const refusal = (refusedBy: string, state: LimitStates = {}): Refusal => ({
  admitted: false,
  refusedBy,
  retryAfterSeconds: 9,
  state,
});
const tokens = (remaining: number) => ({ limit: 500, remaining, resetSeconds: 9 });

describe('a refusal', () => {
  it.each<[Refusal, TokenDemand | undefined, string, string]>([
    [
      refusal('concurrentStreams', { concurrentStreams: { limit: 3, remaining: 0 } }),
      undefined,
      'concurrency_limit_exceeded',
      'The tier allows 3 concurrent streams.',
    ],
    [
      refusal('requestsPerMinute', { requestsPerMinute: { limit: 1, remaining: 0, resetSeconds: 9 } }),
      undefined,
      'rate_limit_exceeded',
      'The tier allows 1 request per minute. A minute begins with its first request.',
    ],
    [
      refusal('concurrentStreams', { concurrentStreams: { limit: 1, remaining: 0 } }),
      undefined,
      'concurrency_limit_exceeded',
      'The tier allows 1 concurrent stream.',
    ],
    [
      refusal('tokensPerDay', { tokensPerDay: tokens(1) }),
      undefined,
      'quota_exceeded',
      'The tier allows 500 tokens per day. 1 remains until midnight UTC.',
    ],
    [
      refusal('requestsPerMinute'),
      undefined,
      'rate_limit_exceeded',
      'The tier allows 0 requests per minute. A minute begins with its first request.',
    ],
    [refusal('ourBudget'), undefined, 'rate_limit_exceeded', 'The limit ourBudget of the account is reached.'],
  ])('says which limit it was, and when to retry (%#)', (given, needed, code, message) => {
    expect(refusalError(given, needed)).toMatchObject({ code, retryAfterSeconds: 9, message });
  });

  it('names no time to a request that needs more than the whole limit, but what would fit', () => {
    const given = refusal('tokensPerDay', { tokensPerDay: tokens(20) });
    expect(refusalError(given, { atLeast: 530, atMost: 530, prompt: 30 })).toMatchObject({
      retryAfterSeconds: undefined,
      message: expect.stringContaining('Set max_tokens to at most 470.') as string,
    });
    expect(refusalError(given, { atLeast: 630, atMost: 630, prompt: 600 })).toMatchObject({
      retryAfterSeconds: undefined,
      message: expect.stringContaining('Send a shorter prompt.') as string,
    });
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
