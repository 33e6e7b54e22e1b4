import { providerFailure, type ProviderFailureCode } from './provider-failure.js';
import type { FinishReason, StreamPart } from './stream-part.js';

type Meaning = Exclude<FinishReason, 'other'> | 'failure' | 'overload';

/**
 * What the finish reasons of all known providers mean, in lower case. `failure` and `overload`: the answer is not complete, and the
 * provider has said so. docs/providers-and-models.md has the same table with the providers.
 */
const WORDS: Readonly<Record<Meaning, readonly string[]>> = {
  stop: [
    ...[
      'stop',
      'eos',
      'eos_token',
      'end',
      'end_turn',
      'end_of_turn',
      'stop_sequence',
      'stop_token',
      'complete',
      'completed',
    ],
    ...['normal', 'finished', 'done'],
  ],
  length: ['length', 'max_tokens', 'model_length', 'token_limit', 'max_output_tokens', 'model_context_window_exceeded'],
  tool_calls: ['tool_calls', 'tool_call', 'tool_use', 'function_call'],
  content_filter: [
    ...['content_filter', 'content_filtered', 'guardrail_intervened', 'refusal', 'sensitive', 'error_toxic', 'safety'],
    ...['recitation', 'language', 'blocklist', 'prohibited_content', 'spii', 'model_armor', 'image_safety'],
    ...['image_prohibited_content', 'image_recitation'],
  ],
  failure: [
    ...['error', 'abort', 'aborted', 'cancelled', 'canceled', 'user_cancel', 'network_error', 'timeout', 'time_limit'],
    ...['error_limit', 'malformed_function_call', 'malformed_response', 'malformed_model_output', 'malformed_tool_use'],
    ...[
      'unexpected_tool_call',
      'too_many_tool_calls',
      'missing_thought_signature',
      'image_other',
      'no_image',
      'repetition',
    ],
    ...['load', 'unload', 'pause_turn', 'compaction', 'other', 'unknown'],
  ],
  overload: ['insufficient_system_resource'],
};

const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  Object.entries(WORDS).flatMap(([meaning, words]) => words.map((word) => [word, meaning as Meaning] as const)),
);

/** Words for "not finished yet". Some servers send them with each event. */
const UNFINISHED: ReadonlySet<string> = new Set(['', 'null', 'none', 'not_finished', 'finish_reason_unspecified']);

const FAILURE_CODES: Readonly<Partial<Record<Meaning, ProviderFailureCode>>> = {
  failure: 'upstream_error',
  overload: 'upstream_unavailable',
};

/** The longest known word has fewer characters. */
const MAX_LENGTH = 64;

/**
 * Converts the finish reason of a provider, without regard to case: to the finish, or to the error that it reports. Returns no part if
 * the answer is not finished. A word that no known provider uses becomes the reason `other`, which is not the end of a complete answer.
 */
export function finishParts(raw: unknown): readonly StreamPart[] {
  if (typeof raw !== 'string' || UNFINISHED.has(normalized(raw))) return [];
  const meaning = MEANINGS.get(normalized(raw));
  const code = meaning && FAILURE_CODES[meaning];
  if (code !== undefined) return [{ type: 'error', error: providerFailure(code, `finish reason: ${raw}`) }];
  return [{ type: 'finish', reason: (meaning as FinishReason | undefined) ?? 'other', raw }];
}

/**
 * Returns the provider's finish reason if it is known, and that of the service otherwise. An unknown word can be a piece
 * of the answer, and the ledger must not contain pieces of answers.
 */
export function recordedFinishReason(raw: string, reason: FinishReason): string {
  return MEANINGS.has(normalized(raw)) ? raw : reason;
}

function normalized(raw: string): string {
  return raw.length > MAX_LENGTH ? raw : raw.toLowerCase().replaceAll('-', '_');
}
