import type { AttemptTrace } from '../../upstreams/completion/call-trace.js';
import type { FailureCause } from '../../upstreams/contract/provider-failure.js';
import type { UsageRecord } from '../record/usage-record.js';
import { ledgerText, UnstorableData } from './ledger-text.js';

/** An attempt as the ledger stores it. */
interface StoredAttempt {
  readonly upstream: string;
  /** The error code. Missing: the attempt did not fail. */
  readonly code?: string;
  /** Why the attempt failed. Only operators see it. */
  readonly cause?: FailureCause;
  /** From the start of the attempt to its end, in milliseconds. `null`: unknown. */
  readonly duration_ms: number | null;
}

/** The maximum number of stored attempts. A model has few routes, and each attempt uses another route. */
const MAX_ATTEMPTS = 100;

/** Returns the attempts as JSON. */
export function storedAttempts(attempts: readonly AttemptTrace[]): string {
  return JSON.stringify(attempts.slice(0, MAX_ATTEMPTS).map(storedAttempt));
}

/** Reads the text of {@link storedAttempts}. An earlier version of the service has stored none. */
export function readAttempts(stored: string | null): readonly StoredAttempt[] {
  return stored === null ? [] : (JSON.parse(stored) as StoredAttempt[]);
}

function storedAttempt({ upstream, code, cause, durationMs }: AttemptTrace): StoredAttempt {
  return {
    upstream: ledgerText(upstream),
    ...(code !== undefined && { code: ledgerText(code) }),
    ...(cause !== undefined && { cause }),
    duration_ms: durationMs === undefined ? null : Math.round(durationMs),
  };
}

/** Only years of four digits sort as texts. */
const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

/** A value with a type and size that both engines accept. */
export type StoredValue = string | number | null;

/** The columns of the table `usage_records`, each with the value that a record has there. */
const COLUMNS = {
  id: ({ id }) => ledgerText(id),
  request_id: ({ requestId }) => ledgerText(requestId),
  account_id: ({ accountId }) => ledgerText(accountId),
  credential: ({ credential }) => ledgerText(credential),
  key_id: ({ keyId }) => optional(keyId, ledgerText),
  key_prefix: ({ keyPrefix }) => optional(keyPrefix, ledgerText),
  model: ({ model }) => ledgerText(model),
  upstream: ({ upstream }) => optional(upstream, ledgerText),
  attempts: ({ attempts }) => count(attempts.length),
  attempt_details: ({ attempts }) => storedAttempts(attempts),
  detached: ({ detached }) => Number(detached === true),
  surface: ({ surface }) => optional(surface, ledgerText),
  started_at: ({ startedAt }) => iso(startedAt),
  first_text_at: ({ firstTextAt }) => optional(firstTextAt, iso),
  ended_at: ({ endedAt }) => optional(endedAt, iso),
  outcome: ({ outcome }) => ledgerText(outcome),
  error_code: ({ errorCode }) => optional(errorCode, ledgerText),
  finish_reason: ({ finishReason }) => optional(finishReason, ledgerText),
  prompt_tokens: ({ inputTokens }) => optional(inputTokens.count, count),
  cached_prompt_tokens: ({ cachedInputTokens }) => optional(cachedInputTokens, count),
  cache_write_prompt_tokens: ({ cacheWriteInputTokens }) => optional(cacheWriteInputTokens, count),
  prompt_tokens_source: ({ inputTokens }) => ledgerText(inputTokens.source),
  completion_tokens: ({ outputTokens }) => optional(outputTokens.count, count),
  reasoning_completion_tokens: ({ reasoningOutputTokens }) => optional(reasoningOutputTokens, count),
  tool_calls: ({ toolCalls }) => optional(toolCalls, count),
  completion_tokens_source: ({ outputTokens }) => ledgerText(outputTokens.source),
  input_price: ({ price }) => optional(price?.inputPerMillion, amount),
  output_price: ({ price }) => optional(price?.outputPerMillion, amount),
  cached_input_price: ({ price }) => optional(price?.cachedInputPerMillion, amount),
  cache_write_input_price: ({ price }) => optional(price?.cacheWriteInputPerMillion, amount),
  reasoning_output_price: ({ price }) => optional(price?.reasoningOutputPerMillion, amount),
  cost_micros: ({ costMicros }) => optional(costMicros, amount),
  currency: ({ price }) => optional(price?.currency, ledgerText),
} as const satisfies Record<string, (record: UsageRecord) => StoredValue>;

export const RECORD_COLUMNS: readonly string[] = Object.keys(COLUMNS);

/**
 * A record as the table `usage_records` has it. The names of the columns are stable. Times are texts in ISO 8601, `attempt_details`
 * is JSON, and `cost_micros` is in millionths of the unit of `currency`.
 *
 * @experimental
 * @since 1.0
 */
export type LedgerRow = { readonly [Column in keyof typeof COLUMNS]: ReturnType<(typeof COLUMNS)[Column]> };

/** The columns that PostgreSQL returns as texts, because they can be larger than 2^31. */
const COUNTS = /_tokens$|^(?:attempts|detached|tool_calls|cost_micros)$/;

/** Returns a row of the table as both engines should return it. */
export function ledgerRow(row: Readonly<Record<string, unknown>>): LedgerRow {
  const values = RECORD_COLUMNS.map((column) => {
    const value = row[column];
    return [column, COUNTS.test(column) && value !== null ? Number(value) : value];
  });
  return Object.fromEntries(values) as LedgerRow;
}

const VALUES = Object.values(COLUMNS);

/**
 * Returns the values of a record in the order of {@link RECORD_COLUMNS}.
 *
 * @throws {UnstorableData} for a record that the types do not allow, because a module of a team may be written without types.
 */
export function storedRow(record: UsageRecord): StoredValue[] {
  try {
    return VALUES.map((valueOf) => valueOf(record));
  } catch (error) {
    if (error instanceof UnstorableData) throw error;
    throw new UnstorableData('A member of the record is missing.', { cause: error });
  }
}

function optional<T, V>(value: T | null | undefined, stored: (value: T) => V): V | null {
  return value === undefined || value === null ? null : stored(value);
}

function iso(moment: number): string {
  if (Number.isFinite(moment) && moment >= FIRST_MOMENT && moment <= LAST_MOMENT) return new Date(moment).toISOString();
  throw new UnstorableData('A time of the record is not a valid date.');
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
