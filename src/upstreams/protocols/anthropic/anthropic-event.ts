import { finishParts } from '../../contract/finish-reason.js';
import type { StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { END, endMarkerParts, NOTHING } from '../shared/event-parts.js';
import { isJsonObject, type JsonObject } from '../shared/json-object.js';
import { laterCount, tokenUsage, tokenCount } from '../shared/token-count.js';
import { OpenBlocks } from './open-blocks.js';
import { reportedFailure } from '../shared/reported-failure.js';

/** Reads the events of one message. */
export class AnthropicEvents {
  private readonly usage = new AnthropicUsage();
  private readonly blocks = new OpenBlocks();
  private hasFinishReason = false;

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
        return this.endParts(body);
      case 'message_stop':
        return endMarkerParts(this.hasFinishReason);
      case 'message':
        return this.wholeParts(body);
      case 'error':
        return [{ type: 'error', error: reportedFailure(body.error ?? body, body) }];
      default:
        // Google reports a failure of Claude at Vertex AI in an event without a type.
        return isJsonObject(body.error) ? [{ type: 'error', error: reportedFailure(body.error, body) }] : NOTHING;
    }
  }

  /** Returns the parts of a message that a server sends whole, although the request asks for a stream. */
  private wholeParts(message: JsonObject): readonly StreamPart[] {
    const blocks: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
    const contents = blocks.flatMap((block, index) => [
      ...this.blocks.start({ index, content_block: block }),
      ...this.blocks.stop({ index }),
    ]);
    const ending = this.endParts({ delta: message, usage: message.usage });
    return [...contents, ...ending, ...(ending.some(({ type }) => type === 'finish') ? END : NOTHING)];
  }

  private endParts(body: JsonObject): readonly StreamPart[] {
    const parts: StreamPart[] = [];
    const finish = isJsonObject(body.delta) ? finishParts(body.delta.stop_reason) : NOTHING;
    if (finish[0]?.type === 'finish') this.hasFinishReason = true;
    if (finish[0]?.type === 'finish' && finish[0].reason !== 'other') parts.push(...this.blocks.finish());
    const usage = this.usage.add(body.usage);
    if (usage !== undefined) parts.push({ type: 'usage', usage });
    return [...parts, ...finish];
  }
}

/** Leaves out the count of output tokens. At the start this count covers only the first token, not the answer. */
function startParts(message: unknown, counts: AnthropicUsage): readonly StreamPart[] {
  const usage = isJsonObject(message) ? counts.add(message.usage) : undefined;
  const input = tokenUsage({ ...usage, outputTokens: undefined });
  return input === undefined ? NOTHING : [{ type: 'usage', usage: input }];
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
    this.fresh = laterCount(this.fresh, tokenCount(usage.input_tokens));
    this.read = laterCount(this.read, tokenCount(usage.cache_read_input_tokens));
    this.written = laterCount(this.written, tokenCount(usage.cache_creation_input_tokens));
    return tokenUsage({
      inputTokens: this.fresh === undefined ? undefined : this.fresh + (this.read ?? 0) + (this.written ?? 0),
      cachedInputTokens: this.read,
      cacheWriteInputTokens: this.written,
      outputTokens: tokenCount(usage.output_tokens),
    });
  }
}
