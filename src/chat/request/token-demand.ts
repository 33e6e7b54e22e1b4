import type { TierConfig } from '../../config/config.js';
import type { Lease, TokenDemand } from '../../throttling/limit-store.js';
import { estimatePromptTokens } from '../../usage/record/token-estimate.js';
import { ChatRequest } from './chat-request.dto.js';

/** The number of tokens to reserve for an answer without a limit. */
const USUAL_ANSWER_TOKENS = 1024;

/** Estimates the tokens to reserve from the daily quota of the account. An invalid body uses no tokens. */
export function tokenDemand(body: unknown, { maxTokens: cap }: TierConfig): TokenDemand {
  if (typeof body !== 'object' || body === null || !ChatRequest.accepts(body)) return { atLeast: 0, atMost: 0 };
  const request = body as ChatRequest;
  const prompt = estimatePromptTokens(request.messages);
  const asked = request.max_tokens;
  if (asked === undefined) return { atLeast: prompt + 1, atMost: prompt + (cap ?? USUAL_ANSWER_TOKENS) };
  // A limit above the tier's maximum is invalid, and the request is rejected later.
  if (asked > (cap ?? Infinity)) return { atLeast: 0, atMost: 0 };
  return { atLeast: prompt + asked, atMost: prompt + asked };
}

/** Limits `maxTokens` for the provider to the granted tokens, when the account has fewer tokens left than wanted. */
export function withinGrant(
  maxTokens: number | undefined,
  request: ChatRequest,
  tier: TierConfig,
  lease: Lease | undefined,
): number | undefined {
  if (lease?.tokens === undefined || lease.tokens >= tokenDemand(request, tier).atMost) return maxTokens;
  return Math.min(maxTokens ?? Infinity, lease.tokens - estimatePromptTokens(request.messages));
}
