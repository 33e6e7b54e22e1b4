import { MICROS } from '../../platform/config/limits/budget.js';
import type { LedgerRow } from '../store/record-columns.js';
import { readAttempts } from '../store/stored-attempts.js';
import type { StreamOutcome } from '../record/stream-outcome.js';

/** What one stream has used and cost. A value that is not known is `null`. */
export type Receipt = ReturnType<typeof receiptOf>;

export function receiptOf(row: LedgerRow) {
  return {
    request_id: row.request_id,
    model: row.model,
    surface: row.surface,
    outcome: row.outcome as StreamOutcome,
    finish_reason: row.finish_reason,
    started_at: row.started_at,
    first_text_at: row.first_text_at,
    ended_at: row.ended_at,
    tokens: {
      input: row.prompt_tokens,
      cached_input: row.cached_prompt_tokens,
      cache_write_input: row.cache_write_prompt_tokens,
      output: row.completion_tokens,
      reasoning_output: row.reasoning_completion_tokens,
      source: sourceOf(row),
    },
    tool_calls: row.tool_calls,
    cost: row.cost_micros === null ? null : row.cost_micros / MICROS,
    currency: row.currency,
    attempts: readAttempts(row.attempt_details).map(({ upstream, code, duration_ms }) => ({
      upstream,
      ...(code !== undefined && { code }),
      duration_ms,
    })),
  };
}

/** Returns the least certain source of the known counts. */
function sourceOf(row: LedgerRow): 'reported' | 'estimated' | 'unknown' {
  const sources = [
    ...(row.prompt_tokens === null ? [] : [row.prompt_tokens_source]),
    ...(row.completion_tokens === null ? [] : [row.completion_tokens_source]),
  ];
  if (sources.length === 0) return 'unknown';
  return sources.every((source) => source === 'reported') ? 'reported' : 'estimated';
}
