import type { TokenUsage } from '../../contract/stream-part.js';
import { isJsonObject } from '../shared/json-object.js';
import { tokenCount, tokenUsage } from '../shared/token-count.js';

/**
 * Adds up the token counts of one message. Anthropic counts the tokens of the prompt apart from its cached tokens. A later
 * event may repeat only some of the counts.
 */
export class AnthropicUsage {
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
