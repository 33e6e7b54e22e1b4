import { afterEach, describe, expect, it, vi } from 'vitest';
import { refusalError, setLimitHeaders } from '../../../src/throttling/limit-answer.js';
import type { LimitState, Refusal } from '../../../src/throttling/limit-store.js';

const NOTHING: LimitState = { requests: undefined, streams: undefined, tokens: undefined };
const refusal = (refusedBy: Refusal['refusedBy'], state: Partial<LimitState> = {}): Refusal => ({
  admitted: false,
  refusedBy,
  retryAfterSeconds: 9,
  state: { ...NOTHING, ...state },
});

describe('a refusal', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each<[Refusal, number | undefined, string, RegExp]>([
    [
      refusal('requests', { requests: { limit: 20, remaining: 0, resetSeconds: 9 } }),
      undefined,
      'rate_limit_exceeded',
      /\b20 requests per minute/,
    ],
    [
      refusal('streams', { streams: { limit: 3, remaining: 0 } }),
      undefined,
      'concurrency_limit_exceeded',
      /\b3 concurrent streams/,
    ],
    [
      refusal('tokens', {
        tokens: { limit: 500, remaining: 7, resetSeconds: 9, renewsAt: new Date('2026-11-22T00:00:00Z') },
      }),
      30,
      'quota_exceeded',
      /\b500 tokens per day\. 7 remain until 2026-11-22T00:00:00Z, and this request needs 30\./,
    ],
    [
      refusal('tokens', { tokens: { limit: 500, remaining: 0, resetSeconds: 9, renewsAt: new Date('2026-11-22') } }),
      undefined,
      'quota_exceeded',
      /until 2026-11-22T00:00:00Z\.$/,
    ],
    [refusal('requests'), undefined, 'rate_limit_exceeded', /\b0 requests/],
    [refusal('streams'), undefined, 'concurrency_limit_exceeded', /\b0 concurrent streams/],
  ])('says which limit it was, and when to come again (%#)', (given, needed, code, message) => {
    const error = refusalError(given, needed);
    expect(error).toMatchObject({ code, retryAfterSeconds: 9, message: expect.stringMatching(message) as string });
  });

  it('says when tokens are renewed by a store that does not', () => {
    vi.useFakeTimers({ now: new Date('2026-11-21T23:59:51Z') });
    const { message } = refusalError(refusal('tokens'), undefined);
    expect(message).toContain('until 2026-11-22T00:00:00Z.');
  });
});

describe('the headers of the limits', () => {
  it('are those of the limits that the tier has', () => {
    const headers: Record<string, unknown> = {};
    const response = { setHeader: (name: string, value: unknown) => (headers[name] = value) };
    setLimitHeaders(response as never, 'X-RateLimit', NOTHING);
    expect(headers).toEqual({});

    setLimitHeaders(response as never, 'X-RateLimit', {
      requests: { limit: 1, remaining: 2, resetSeconds: 3 },
      streams: { limit: 7, remaining: 8 },
      tokens: { limit: 4, remaining: 5, resetSeconds: 6 },
    });
    expect(headers).toEqual({
      'X-RateLimit-Limit': 1,
      'X-RateLimit-Remaining': 2,
      'X-RateLimit-Reset': 3,
      'X-RateLimit-Limit-Tokens': 4,
      'X-RateLimit-Remaining-Tokens': 5,
      'X-RateLimit-Reset-Tokens': 6,
    });
  });
});
