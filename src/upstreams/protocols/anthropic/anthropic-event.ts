import type { FinishReason, StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { END, NOTHING } from '../shared/event-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { tokenUsage, tokenCount } from '../shared/token-count.js';
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

/**
 * Adds up the token counts of one message. Anthropic counts the tokens of the prompt apart from its cached tokens. A later
 * event may repeat only some of the counts.
 */
class AnthropicUsage {
  private fresh: number | undefined;
  private read: number | undefined;
  private written: number | undefined;

  /** Returns the counts so far, with the counts of this `usage` object. */
  add(usage: unknown): TokenUsage | undefined {
    if (!isJsonObject(usage)) return undefined;
    this.fresh = tokenCount(usage.input_tokens) ?? this.fresh;
    this.read = tokenCount(usage.cache_read_input_tokens) ?? this.read;
    this.written = tokenCount(usage.cache_creation_input_tokens) ?? this.written;
    return tokenUsage({
      inputTokens: this.fresh === undefined ? undefined : this.fresh + (this.read ?? 0) + (this.written ?? 0),
      cachedInputTokens: this.read,
      cacheWriteInputTokens: this.written,
      outputTokens: tokenCount(usage.output_tokens),
    });
  }
}
