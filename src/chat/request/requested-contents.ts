import type { ModelConfig, TierConfig } from '../../platform/config/config.js';
import { generationOptionsOf, type GenerationOptions } from '../../platform/config/capabilities.js';
import { ServiceError } from '../../platform/common/service-error.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import type { CompletionRequest } from '../../upstreams/routing/failover-stream.js';

/** The default, unless the request has `top_p`: providers advise against both, and some refuse both. */
export const DEFAULT_TEMPERATURE = 0.7;

type Contents = Omit<CompletionRequest, 'accountId' | 'maxTokens' | 'readsReasoning' | 'readsToolCalls'>;

/** Returns what a request brings to its provider, with the names of a call, and with the default of the temperature. */
export function requestedContents(request: ConversationRequest): Contents {
  return {
    messages: request.messages,
    options: requestedOptions(request),
    tools: request.tools,
    toolChoice: request.tool_choice,
    parallelToolCalls: request.parallel_tool_calls,
    responseFormat: request.response_format,
    reasoning: request.reasoning,
    user: request.user,
  };
}

/** Returns the generation options of a request, with the default of the temperature. */
export function requestedOptions(request: GenerationOptions): GenerationOptions {
  const options = generationOptionsOf(request);
  if (options.temperature !== undefined || options.top_p !== undefined) return options;
  return { ...options, temperature: DEFAULT_TEMPERATURE };
}

/** The estimate of a prompt may be too low, and some providers refuse a limit that does not fit in the context with the prompt. */
const PROMPT_MARGIN = 1.2;

/** Returns the most tokens of an answer without a limit: what the model can generate, and what the prompt leaves of its context. */
export function maxAnswerTokens({ contextLength, maxOutputTokens }: ModelConfig, estimatedPrompt: number): number {
  const left = contextLength - Math.ceil(PROMPT_MARGIN * estimatedPrompt);
  return Math.max(1, Math.min(maxOutputTokens ?? Infinity, left));
}

/**
 * Returns the token limit for the provider: the requested limit, or otherwise the limit of the tier within the limits of the
 * model. `undefined`: the request and the tier have no limit.
 *
 * @throws {ServiceError} `invalid_request` when the requested limit is too high for the model or the tier.
 */
export function maxTokensOf(request: ConversationRequest, model: ModelConfig, tier: TierConfig): number | undefined {
  const limits: [number | undefined, string][] = [
    [model.contextLength, 'the context length of the model'],
    [model.maxOutputTokens, 'what the model can generate'],
    [tier.maxTokens, `what the tier ${tier.name} allows`],
  ];
  const requested = request.max_tokens;
  if (requested === undefined) {
    return tier.maxTokens && Math.min(tier.maxTokens, model.maxOutputTokens ?? Infinity, model.contextLength);
  }
  for (const [limit, what] of limits) {
    if (limit === undefined || requested <= limit) continue;
    const message = `must not be above ${limit}, ${what}`;
    throw new ServiceError('invalid_request', `max_tokens ${message}.`, {
      details: [{ field: 'max_tokens', message }],
    });
  }
  return requested;
}
