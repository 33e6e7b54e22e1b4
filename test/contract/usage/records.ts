import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { BegunStream, UsageRecord } from '../../../src/usage/record/usage-record.js';

export const TODAY = Date.parse('2026-11-21T00:00:00Z');

export const ATTEMPT = {
  upstream: 'acme',
  startedMs: 0,
  firstTextMs: 100.25,
  durationMs: 899.6,
  accepted: true,
  code: undefined,
};
const PRICE = {
  inputPerMillion: 1,
  cachedInputPerMillion: 0.1,
  cacheWriteInputPerMillion: 1.25,
  outputPerMillion: 2,
  currency: 'USD',
};

export function begun(parts: Partial<BegunStream> = {}): BegunStream {
  return {
    id: randomUUID(),
    requestId: 'request',
    accountId: 'ada',
    credential: 'api_key',
    keyId: 'laptop',
    keyPrefix: 'csk_12345678',
    model: 'acme/fast',
    startedAt: TODAY + 1000,
    ...parts,
  };
}

/** The record of a stream that was answered. */
export function over(parts: Partial<UsageRecord> = {}): UsageRecord {
  return {
    ...begun(),
    upstream: 'acme',
    attempts: [ATTEMPT],
    firstTextAt: TODAY + 1100.25,
    endedAt: TODAY + 2000.5,
    outcome: 'completed',
    errorCode: undefined,
    finishReason: 'stop',
    inputTokens: { source: 'reported', count: 10 },
    cachedInputTokens: 6,
    cacheWriteInputTokens: 3,
    outputTokens: { source: 'estimated', count: 20 },
    price: PRICE,
    costMicros: 50,
    ...parts,
  };
}

/** The record of the same stream for who found it in a process that was dead. */
export function interrupted(record: UsageRecord): UsageRecord {
  return {
    ...record,
    upstream: undefined,
    attempts: [],
    firstTextAt: undefined,
    endedAt: undefined,
    outcome: 'interrupted',
    errorCode: undefined,
    finishReason: undefined,
    inputTokens: { source: 'unknown' },
    cachedInputTokens: undefined,
    cacheWriteInputTokens: undefined,
    outputTokens: { source: 'unknown' },
    price: undefined,
    costMicros: undefined,
  };
}

const isMoment = (column: string) => column.endsWith('_at');
const isCount = (column: string) => column.endsWith('_tokens');

/** The rows of the ledger by column. Both engines give the same types: dates for moments, numbers for counts. */
export async function storedRecords(source: DataSource): Promise<Record<string, unknown>[]> {
  const rows = await source.query<Record<string, string | number | null>[]>('SELECT * FROM usage_records');
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]): [string, unknown] => {
        if (value !== null && isMoment(column)) return [column, new Date(value)];
        return [column, value !== null && isCount(column) ? Number(value) : value];
      }),
    ),
  );
}
