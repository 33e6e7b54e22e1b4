import { describe, expect, it } from 'vitest';
import { finishParts, recordedFinishReason } from '../../../../src/upstreams/contract/finish-reason.js';

describe('the finish reason of a provider', () => {
  it.each([
    ['stop', ['stop', 'STOP', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'COMPLETE']],
    ['length', ['length', 'max_tokens', 'MAX_TOKENS', 'model_length', 'model_context_window_exceeded']],
    ['tool_calls', ['tool_calls', 'tool-calls', 'TOOL_CALL', 'function_call', 'tool_use']],
    [
      'content_filter',
      ['content_filter', 'SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE'],
    ],
    ['content_filter', ['MODEL_ARMOR', 'IMAGE_SAFETY', 'refusal', 'guardrail_intervened', 'sensitive', 'ERROR_TOXIC']],
    ['other', ['some_new_reason', 'constructor', 'x'.repeat(1_000_000)]],
  ])('is read as %s: %j', (reason, words) => {
    for (const raw of words) expect(finishParts(raw)).toEqual([{ type: 'finish', reason, raw }]);
  });

  it.each(['error', 'abort', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER', 'pause_turn', 'load'])(
    'is read as a failure: %s',
    (raw) => {
      expect(finishParts(raw)).toMatchObject([{ type: 'error', error: { code: 'upstream_error' } }]);
    },
  );

  it.each([undefined, null, '', 'null', 'NONE', 'FINISH_REASON_UNSPECIFIED', 7, {}])('is none: %j', (raw) => {
    expect(finishParts(raw)).toEqual([]);
  });
});

describe('the finish reason of a usage record', () => {
  it.each(['stop', 'end_turn', 'MAX_TOKENS'])('is that of the provider: %s', (raw) => {
    expect(recordedFinishReason(raw, 'other')).toBe(raw);
  });

  it.each(['my password is hunter2', 'constructor', '', 'x'.repeat(1_000_000)])(
    'is that of the service when the provider sends another text',
    (raw) => {
      expect([recordedFinishReason(raw, 'other'), recordedFinishReason(raw, 'stop')]).toEqual(['other', 'stop']);
    },
  );
});
