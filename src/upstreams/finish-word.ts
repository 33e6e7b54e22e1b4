import type { FinishReason } from './stream-part.js';

/** The words with which vendors say why an answer ended. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['stop', 'length', 'content_filter', 'tool_calls', 'function_call', 'eos', 'model_length', 'end_turn', 'refusal'],
  ...['stop_sequence', 'max_tokens', 'model_context_window_exceeded', 'tool_use', 'pause_turn', 'compaction'],
  ...['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'OTHER'],
  ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'FINISH_REASON_UNSPECIFIED', 'eos_token', 'end', 'repetition'],
  ...['safety', 'recitation', 'cancelled', 'error', 'abort', 'load', 'unload', 'unknown'],
]);

/**
 * The vendor's word for the end of an answer where it is a known one, and our own word otherwise: a word that nobody knows
 * can be a piece of the answer, and the ledger keeps none.
 */
export function finishWord(raw: string, reason: FinishReason): string {
  return KNOWN.has(raw) ? raw : reason;
}
