import type { TokenUsage } from '../../contract/stream-part.js';
import { isJsonObject, type JsonObject } from '../shared/json-object.js';
import { tokenCount, tokenUsage, agreedCounts } from '../shared/token-count.js';

/**
 * Returns the token counts of a `usage` object. Providers that speak this protocol use different names for the cache:
 * `cached_tokens` (OpenAI; Moonshot has it in `usage` itself), `prompt_cache_hit_tokens` (DeepSeek), `cache_write_tokens`
 * (OpenRouter) and `cache_creation_input_tokens` (LiteLLM). Some gateways use the names of the Responses API.
 */
export function openAiUsage(usage: JsonObject): TokenUsage | undefined {
  const ofPrompt = detailsOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const ofAnswer = detailsOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  const reasoning = tokenCount(ofAnswer.reasoning_tokens);
  const input = tokenCount(usage.prompt_tokens ?? usage.input_tokens);
  const total = tokenCount(usage.total_tokens);
  const output = withReasoning(tokenCount(usage.completion_tokens ?? usage.output_tokens), reasoning, total);
  return tokenUsage({
    ...agreedCounts(input, output, total),
    cachedInputTokens:
      tokenCount(ofPrompt.cached_tokens) ??
      tokenCount(usage.cached_tokens) ??
      tokenCount(usage.prompt_cache_hit_tokens),
    cacheWriteInputTokens: tokenCount(ofPrompt.cache_write_tokens) ?? tokenCount(usage.cache_creation_input_tokens),
    reasoningOutputTokens: reasoning,
  });
}

/** Adds the reasoning to the answer, if there is no total to decide and the answer is too small to contain the reasoning. */
function withReasoning(output: number | undefined, reasoning: number | undefined, total: number | undefined) {
  if (output === undefined || reasoning === undefined || total !== undefined) return output;
  return reasoning > output ? output + reasoning : output;
}

function detailsOf(details: unknown): JsonObject {
  return isJsonObject(details) ? details : {};
}
