import type { UsageRecord } from '../record/usage-record.js';
import { ledgerText } from './ledger-text.js';
import { UnstorableData } from './unstorable-data.js';

/** The columns of a record, in the order of {@link rowOf}. */
export const RECORD_COLUMNS = [
  'id',
  'request_id',
  'account_id',
  'credential',
  'key_id',
  'key_prefix',
  'model',
  'upstream',
  'attempts',
  'started_at',
  'first_text_at',
  'ended_at',
  'outcome',
  'error_code',
  'finish_reason',
  'prompt_tokens',
  'prompt_tokens_source',
  'completion_tokens',
  'completion_tokens_source',
  'input_price',
  'output_price',
  'cost_micros',
  'currency',
] as const;

/** Only years of four digits sort as texts. */
const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Returns the values of a record, with types and sizes that both engines accept.
 *
 * @throws {UnstorableData} for a record that the types do not allow, because a module of a team may be written without types.
 */
export function rowOf(record: UsageRecord): (string | number | null)[] {
  try {
    return valuesOf(record);
  } catch (error) {
    if (error instanceof UnstorableData) throw error;
    throw new UnstorableData('A member of the record is missing.', { cause: error });
  }
}

function valuesOf(record: UsageRecord): (string | number | null)[] {
  const { promptTokens, completionTokens, price } = record;
  return [
    ledgerText(record.id),
    ledgerText(record.requestId),
    ledgerText(record.accountId),
    ledgerText(record.credential),
    optional(record.keyId, ledgerText),
    optional(record.keyPrefix, ledgerText),
    ledgerText(record.model),
    optional(record.upstream, ledgerText),
    count(record.attempts.length),
    iso(record.startedAt),
    optional(record.firstTextAt, iso),
    optional(record.endedAt, iso),
    ledgerText(record.outcome),
    optional(record.errorCode, ledgerText),
    optional(record.finishReason, ledgerText),
    optional(promptTokens.count, count),
    ledgerText(promptTokens.source),
    optional(completionTokens.count, count),
    ledgerText(completionTokens.source),
    optional(price?.inputPerMillion, amount),
    optional(price?.outputPerMillion, amount),
    optional(record.costMicros, amount),
    optional(price?.currency, ledgerText),
  ];
}

function optional<T, V>(value: T | null | undefined, stored: (value: T) => V): V | null {
  return value === undefined || value === null ? null : stored(value);
}

function iso(moment: number): string {
  if (Number.isFinite(moment) && moment >= FIRST_MOMENT && moment <= LAST_MOMENT) return new Date(moment).toISOString();
  throw new UnstorableData('A moment of the record is not a date.');
}

function count(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new UnstorableData('A count of the record is not a whole number from 0 to 2^53.');
}

/** NaN or infinity in one record would spoil the sum of its day for ever. */
function amount(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new UnstorableData('A price or cost of the record is not a finite number.');
}
