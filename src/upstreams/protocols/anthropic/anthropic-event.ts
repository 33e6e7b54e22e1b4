import type { FinishReason, StreamPart } from '../../contract/stream-part.js';
import { END, NOTHING } from '../shared/fixed-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { tokenUsage } from '../shared/token-count.js';
import { AnthropicUsage } from './anthropic-usage.js';
import { OpenBlocks } from './open-blocks.js';
import { reportedFailure } from '../shared/reported-failure.js';

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
  ['tool_use', 'tool_calls'],
]);

/** Reads the events of one message. */
export class AnthropicEvents {
  private readonly usage = new AnthropicUsage();
  private readonly blocks = new OpenBlocks();

  /** Uses the `type` of the body, because the `event:` line only repeats it, and can be missing. */
  parts(body: JsonObject): readonly StreamPart[] {
    switch (body.type) {
      case 'content_block_delta':
        return this.blocks.add(body);
      case 'content_block_start':
        return this.blocks.start(body);
      case 'content_block_stop':
        return this.blocks.stop(body);
      case 'message_start':
        return startParts(body.message, this.usage);
      case 'message_delta':
        return endParts(body, this.usage);
      case 'message_stop':
        return END;
      case 'error':
        return [{ type: 'error', error: reportedFailure(body.error ?? body, body) }];
      default:
        return NOTHING;
    }
  }
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
