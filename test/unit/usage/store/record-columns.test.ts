import { describe, expect, it } from 'vitest';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import {
  RECORD_COLUMNS,
  storedRow,
  type StoredValue,
  readAttempts,
  storedAttempts,
} from '../../../../src/usage/store/record-columns.js';
import { ATTEMPT, over } from '../../../contract/usage/records.js';

describe('the row of a record', () => {
  const rowOf = (parts: object = {}): Readonly<Record<string, StoredValue>> =>
    Object.fromEntries(storedRow({ ...over(), ...parts }).map((value, at) => [RECORD_COLUMNS[at] ?? '', value]));

  it('has each member in its column', () => {
    const record = over({ id: 'id', errorCode: 'upstream_error', attempts: [ATTEMPT] });
    expect(rowOf(record)).toEqual({
      id: 'id',
      request_id: 'request',
      account_id: 'ada',
      credential: 'api_key',
      key_id: 'laptop',
      key_prefix: 'csk_12345678',
      model: 'acme/fast',
      upstream: 'acme',
      attempts: 1,
      attempt_details: '[{"upstream":"acme","duration_ms":900}]',
      detached: 0,
      surface: null,
      started_at: '2026-11-21T00:00:01.000Z',
      first_text_at: '2026-11-21T00:00:01.100Z',
      ended_at: '2026-11-21T00:00:02.000Z',
      outcome: 'completed',
      error_code: 'upstream_error',
      finish_reason: 'stop',
      prompt_tokens: 10,
      cached_prompt_tokens: 6,
      cache_write_prompt_tokens: 3,
      prompt_tokens_source: 'reported',
      completion_tokens: 20,
      reasoning_completion_tokens: null,
      tool_calls: null,
      completion_tokens_source: 'estimated',
      input_price: 1,
      output_price: 2,
      cached_input_price: 0.1,
      cache_write_input_price: 1.25,
      reasoning_output_price: null,
      cost_micros: 50,
      currency: 'USD',
    });
  });

  it('is empty where a member is unknown', () => {
    const row = rowOf({ keyId: undefined, upstream: null, price: undefined, costMicros: undefined, endedAt: null });
    const empty = { key_id: null, upstream: null, input_price: null, output_price: null, currency: null };
    expect(row).toMatchObject({ ...empty, cost_micros: null, ended_at: null });
  });

  it('has zeros where a member is zero', () => {
    const zero = { source: 'reported', count: 0 };
    const row = rowOf({ inputTokens: zero, outputTokens: zero, costMicros: 0, startedAt: 0 });
    expect(row).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, cost_micros: 0 });
    expect(row['started_at']).toBe('1970-01-01T00:00:00.000Z');
  });

  it.each([
    [Date.parse('0000-01-01T00:00:00.000Z'), '0000-01-01T00:00:00.000Z'],
    [Date.parse('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59.999Z'],
  ])('accepts years of four digits up to the last moment: %i', (startedAt, text) => {
    expect(rowOf({ startedAt })['started_at']).toBe(text);
  });

  it.each([
    [{ startedAt: Date.parse('0000-01-01T00:00:00.000Z') - 1 }, 'A time of the record is not a valid date'],
    [{ startedAt: Date.parse('9999-12-31T23:59:59.999Z') + 1 }, 'A time of the record is not a valid date'],
    [{ startedAt: NaN }, 'A time of the record is not a valid date'],
    [{ startedAt: '5' }, 'A time of the record is not a valid date'],
    [{ inputTokens: { source: 'reported', count: -1 } }, 'A count of the record is not'],
    [{ inputTokens: { source: 'reported', count: 2 ** 53 } }, 'A count of the record is not'],
    [{ costMicros: NaN }, 'A price or cost of the record'],
    [{ price: { inputPerMillion: 1, outputPerMillion: Infinity, currency: 'USD' } }, 'A price or cost of the record'],
    [{ inputTokens: undefined }, 'A member of the record is missing.'],
  ])('cannot be made of %j', (parts, message) => {
    expect(() => rowOf(parts)).toThrow(UnstorableData);
    expect(() => rowOf(parts)).toThrow(message);
  });
});

describe('a record without a member', () => {
  it('says what went wrong', () => {
    expect(() => storedRow({ ...over(), attempts: undefined } as unknown as UsageRecord)).toThrow(
      expect.objectContaining({ name: 'UnstorableData', cause: expect.any(TypeError) as Error }) as Error,
    );
  });
});

describe('the attempts of a record', () => {
  it('are stored with the code of a failure and the time that they took, where these are known', () => {
    const stored = storedAttempts([
      {
        ...ATTEMPT,
        upstream: 'acme\0',
        code: 'upstream_error',
        cause: { kind: 'server', status: 500 },
        durationMs: 1.6,
      },
      { ...ATTEMPT, upstream: 'backup', code: undefined, durationMs: undefined },
    ]);
    expect(JSON.parse(stored)).toEqual([
      { upstream: 'acme\ufffd', code: 'upstream_error', cause: { kind: 'server', status: 500 }, duration_ms: 2 },
      { upstream: 'backup', duration_ms: null },
    ]);
    expect(readAttempts(stored)).toEqual(JSON.parse(stored));
    expect(readAttempts(null)).toEqual([]);
  });

  it('are a hundred at most', () => {
    expect(readAttempts(storedAttempts(Array.from({ length: 101 }, () => ATTEMPT)))).toHaveLength(100);
  });
});
