import { ServiceError } from '../../common/service-error.js';
import type { ModelConfig, TierConfig } from '../../config/config.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';

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
