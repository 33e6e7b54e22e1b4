import type { FinishReason, StreamPart } from '../../contract/stream-part.js';
import { END, NOTHING, PROGRESS } from '../shared/fixed-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { tokenUsage } from '../shared/token-count.js';
import type { AnthropicUsage } from './anthropic-usage.js';
import { reportedFailure } from '../shared/reported-failure.js';

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
  ['tool_use', 'tool_calls'],
]);

/**
 * Returns the parts of one event. Uses the `type` of the body, because the `event:` line only repeats it, and can be
 * missing.
 *
 * @param usage the token counts of the message so far.
 */
export function anthropicEventParts(body: JsonObject, usage: AnthropicUsage): readonly StreamPart[] {
  switch (body.type) {
    case 'content_block_delta':
      return deltaParts(body.delta);
    case 'content_block_start':
      return blockParts(body.content_block);
    case 'message_start':
      return startParts(body.message, usage);
    case 'message_delta':
      return endParts(body, usage);
    case 'message_stop':
      return END;
    case 'error':
      return [{ type: 'error', error: reportedFailure(body.error ?? body, body) }];
    default:
      return NOTHING;
  }
}

/** All deltas except texts and thinking (signatures, tool input, citations) are only signs of progress. */
function deltaParts(delta: unknown): readonly StreamPart[] {
  if (!isJsonObject(delta)) return NOTHING;
  if (delta.type === 'text_delta') return textParts(delta.text);
  if (delta.type === 'thinking_delta' && isText(delta.thinking)) return [{ type: 'reasoning', text: delta.thinking }];
  return PROGRESS;
}

function blockParts(block: unknown): readonly StreamPart[] {
  if (!isJsonObject(block)) return NOTHING;
  return block.type === 'text' ? textParts(block.text) : PROGRESS;
}

function textParts(text: unknown): readonly StreamPart[] {
  return isText(text) ? [{ type: 'text', text }] : NOTHING;
}

/** Leaves out the count of output tokens. At the start this count covers only the first token, not the answer. */
function startParts(message: unknown, counts: AnthropicUsage): readonly StreamPart[] {
  const usage = isJsonObject(message) ? counts.add(message.usage) : undefined;
  const input = tokenUsage({ ...usage, outputTokens: undefined });
  return input === undefined ? NOTHING : [{ type: 'usage', usage: input }];
}

function endParts(body: JsonObject, counts: AnthropicUsage): readonly StreamPart[] {
  const parts: StreamPart[] = [];
  const usage = counts.add(body.usage);
  if (usage !== undefined) parts.push({ type: 'usage', usage });
  const raw = isJsonObject(body.delta) ? body.delta.stop_reason : undefined;
  if (isText(raw)) parts.push({ type: 'finish', reason: FINISH_REASONS.get(raw) ?? 'other', raw });
  return parts;
}
