import { MICROS } from '../../platform/config/limits/budget.js';
import { readAttempts } from '../store/stored-attempts.js';
import type { StreamOutcome } from '../record/stream-outcome.js';

/** A count as the drivers return it. The driver of PostgreSQL returns large integers as texts. */
type Count = string | number | null;

/** The columns of a usage record that a receipt shows. */
export interface ReceiptRow {
  readonly request_id: string;
  readonly model: string;
  readonly surface: string | null;
  readonly attempt_details: string | null;
  readonly started_at: string;
  readonly first_text_at: string | null;
  readonly ended_at: string | null;
  readonly outcome: StreamOutcome;
  readonly finish_reason: string | null;
  readonly prompt_tokens: Count;
  readonly prompt_tokens_source: string;
  readonly cached_prompt_tokens: Count;
  readonly cache_write_prompt_tokens: Count;
  readonly completion_tokens: Count;
  readonly completion_tokens_source: string;
  readonly reasoning_completion_tokens: Count;
  readonly tool_calls: Count;
  readonly cost_micros: number | null;
  readonly currency: string | null;
}

/** What one stream has used and cost. A value that is not known is `null`. */
export type Receipt = ReturnType<typeof receiptOf>;

export function receiptOf(row: ReceiptRow) {
  return {
    request_id: row.request_id,
    model: row.model,
    surface: row.surface,
    outcome: row.outcome,
    finish_reason: row.finish_reason,
    started_at: row.started_at,
    first_text_at: row.first_text_at,
    ended_at: row.ended_at,
    tokens: {
      input: countOf(row.prompt_tokens),
      cached_input: countOf(row.cached_prompt_tokens),
      cache_write_input: countOf(row.cache_write_prompt_tokens),
      output: countOf(row.completion_tokens),
      reasoning_output: countOf(row.reasoning_completion_tokens),
      source: sourceOf(row),
    },
    tool_calls: countOf(row.tool_calls),
    cost: row.cost_micros === null ? null : row.cost_micros / MICROS,
    currency: row.currency,
    attempts: readAttempts(row.attempt_details).map(({ upstream, code, duration_ms }) => ({
      upstream,
      ...(code !== undefined && { code }),
      duration_ms,
    })),
  };
}

function countOf(count: Count): number | null {
  return count === null ? null : Number(count);
}

/** Returns the least certain source of the known counts. */
function sourceOf(row: ReceiptRow): 'reported' | 'estimated' | 'unknown' {
  const sources = [
    ...(row.prompt_tokens === null ? [] : [row.prompt_tokens_source]),
    ...(row.completion_tokens === null ? [] : [row.completion_tokens_source]),
  ];
  if (sources.length === 0) return 'unknown';
  return sources.every((source) => source === 'reported') ? 'reported' : 'estimated';
}
