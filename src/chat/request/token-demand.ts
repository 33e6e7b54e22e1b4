import type { TierConfig } from '../../config/config.js';
import type { Lease, TokenDemand } from '../../throttling/limit-store.js';
import { estimatePromptTokens } from '../../usage/record/token-estimate.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';

/** The number of tokens to reserve for an answer without a limit. */
const USUAL_ANSWER_TOKENS = 1024;

/** Estimates the tokens to reserve from the daily quota of the account. */
export function tokenDemand(request: ConversationRequest, tier: TierConfig): TokenDemand {
  const requested = request.max_tokens;
  // A limit above the tier's maximum is invalid, and the request is rejected later.
  if (requested !== undefined && requested > (tier.maxTokens ?? Infinity)) return { atLeast: 0, atMost: 0 };
  const prompt = estimatePromptTokens(request);
  return { atLeast: prompt + (requested ?? 1), atMost: prompt + answerTokens(request, tier) };
}

/**
 * Limits `maxTokens` for the provider to the granted tokens, when the account has fewer tokens left than wanted. The limit is
 * at least 1: an endpoint of a plugin may reserve fewer tokens than its prompt has.
 *
 * @param reservedFor the request for which the tokens were reserved. Hooks may have made its prompt longer since.
 */
export function withinGrant(
  maxTokens: number | undefined,
  request: ConversationRequest,
  tier: TierConfig,
  lease: Lease | undefined,
  reservedFor = request,
): number | undefined {
  if (lease?.tokens === undefined) return maxTokens;
  const granted = Math.max(1, lease.tokens - estimatePromptTokens(reservedFor));
  return granted >= answerTokens(request, tier) ? maxTokens : Math.min(maxTokens ?? Infinity, granted);
}

/** Returns the number of tokens to reserve for the answer. */
function answerTokens({ max_tokens: requested }: ConversationRequest, { maxTokens: cap }: TierConfig): number {
  return requested ?? cap ?? USUAL_ANSWER_TOKENS;
}
