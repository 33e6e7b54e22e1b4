import type { ReceiptRow } from '../../../../src/usage/queries/receipt-row.js';

/** The row of a complete stream. */
export const ROW: ReceiptRow = {
  request_id: 'r-1',
  model: 'acme/fast',
  surface: 'messages',
  attempt_details: '[{"upstream":"acme","duration_ms":7}]',
  started_at: '2026-11-22T11:03:43.201Z',
  first_text_at: '2026-11-22T11:03:43.479Z',
  ended_at: '2026-11-22T11:03:44.020Z',
  outcome: 'completed',
  finish_reason: 'stop',
  prompt_tokens: '100',
  prompt_tokens_source: 'reported',
  cached_prompt_tokens: '40',
  cache_write_prompt_tokens: 8,
  completion_tokens: 10,
  completion_tokens_source: 'reported',
  reasoning_completion_tokens: '4',
  tool_calls: '2',
  cost_micros: 288,
  currency: 'EUR',
};
