import type { FinishReason } from '../contract/stream-part.js';

/** The finish reasons of providers. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['stop', 'length', 'content_filter', 'tool_calls', 'function_call', 'eos', 'model_length', 'end_turn', 'refusal'],
  ...['stop_sequence', 'max_tokens', 'model_context_window_exceeded', 'tool_use', 'pause_turn', 'compaction'],
  ...['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'OTHER'],
  ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'FINISH_REASON_UNSPECIFIED', 'eos_token', 'end', 'repetition'],
  ...['safety', 'recitation', 'cancelled', 'error', 'abort', 'load', 'unload', 'unknown'],
]);

/**
 * Returns the provider's finish reason if it is known, and that of the service otherwise. An unknown word can be a piece
 * of the answer, and the ledger must not contain pieces of answers.
 */
export function recordedFinishReason(raw: string, reason: FinishReason): string {
  return KNOWN.has(raw) ? raw : reason;
}
