import { randomUUID } from 'node:crypto';
import type { StartedStream, UsageRecord } from '../../src/usage/record/usage-record.js';

export { interruptedRecord } from '../../src/usage/ledger/interrupted-streams.js';

/** Midnight in UTC on the day of the records, in milliseconds since 1970. */
export const RECORDS_DAY = Date.parse('2026-11-21T00:00:00Z');

export const TEST_ATTEMPT = {
  upstream: 'acme',
  startedMs: 0,
  firstTextMs: 100.25,
  durationMs: 899.6,
  accepted: true,
  code: undefined,
} as const;

/**
 * Returns a stream of the account `ada` that has begun, with a new id.
 */
export function testStartedStream(members: Partial<StartedStream> = {}): StartedStream {
  return {
    id: randomUUID(),
    requestId: 'request',
    accountId: 'ada',
    credential: 'api_key',
    keyId: 'laptop',
    keyPrefix: 'csk_12345678',
    model: 'acme/fast',
    startedAt: RECORDS_DAY + 1000,
    ...members,
  };
}

/**
 * Returns the record of a stream that was answered, with a new id.
 */
export function testUsageRecord(members: Partial<UsageRecord> = {}): UsageRecord {
  return {
    ...testStartedStream(),
    upstream: 'acme',
    attempts: [TEST_ATTEMPT],
    firstTextAt: RECORDS_DAY + 1100.25,
    endedAt: RECORDS_DAY + 2000.5,
    outcome: 'completed',
    errorCode: undefined,
    finishReason: 'stop',
    inputTokens: { source: 'reported', count: 10 },
    cachedInputTokens: 6,
    cacheWriteInputTokens: 3,
    outputTokens: { source: 'estimated', count: 20 },
    price: {
      inputPerMillion: 1,
      cachedInputPerMillion: 0.1,
      cacheWriteInputPerMillion: 1.25,
      outputPerMillion: 2,
      currency: 'USD',
    },
    costMicros: 50,
    ...members,
  };
}
