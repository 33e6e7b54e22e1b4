import type { UsageRecord } from './usage-record.js';

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

export function rowOf(record: UsageRecord): (string | number | null)[] {
  const { promptTokens, completionTokens, price } = record;
  return [
    record.id,
    record.requestId,
    record.accountId,
    record.credential,
    record.keyId ?? null,
    record.keyPrefix ?? null,
    record.model,
    record.upstream ?? null,
    record.attempts.length,
    iso(record.startedAt),
    record.firstTextAt === undefined ? null : iso(record.firstTextAt),
    record.endedAt === undefined ? null : iso(record.endedAt),
    record.outcome,
    record.errorCode ?? null,
    record.finishReason ?? null,
    promptTokens.count ?? null,
    promptTokens.source,
    completionTokens.count ?? null,
    completionTokens.source,
    price?.inputPerMillion ?? null,
    price?.outputPerMillion ?? null,
    record.costMicros ?? null,
    price?.currency ?? null,
  ];
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
