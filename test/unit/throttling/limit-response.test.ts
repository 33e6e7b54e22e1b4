import { describe, expect, it } from 'vitest';
import { refusalError } from '../../../src/throttling/limit-response.js';
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
});
