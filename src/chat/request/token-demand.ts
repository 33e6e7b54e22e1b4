import type { TierConfig } from '../../config/config.js';
import type { Lease, TokenDemand } from '../../throttling/limit-store.js';
import { estimatePromptTokens } from '../../usage/record/token-estimate.js';
import { ChatRequest } from './chat-request.dto.js';

/** Reserved for an answer whose length nobody has limited. */
const USUAL_ANSWER_TOKENS = 1024;

/** The tokens that a request may come to use, to be reserved of the account's day. A wrong body will use none. */
export function tokenDemand(body: unknown, { maxTokens: cap }: TierConfig): TokenDemand {
  if (typeof body !== 'object' || body === null || !ChatRequest.accepts(body)) return { atLeast: 0, atMost: 0 };
  const request = body as ChatRequest;
  const prompt = estimatePromptTokens(request.messages);
  const asked = request.max_tokens;
  if (asked === undefined) return { atLeast: prompt + 1, atMost: prompt + (cap ?? USUAL_ANSWER_TOKENS) };
  // Above the cap, it is about to be refused as a wrong body.
  if (asked > (cap ?? Infinity)) return { atLeast: 0, atMost: 0 };
  return { atLeast: prompt + asked, atMost: prompt + asked };
}

/** `maxTokens` for the vendor, kept within the tokens granted where fewer than wanted were left. */
export function withinGrant(
  maxTokens: number | undefined,
  request: ChatRequest,
  tier: TierConfig,
  lease: Lease | undefined,
): number | undefined {
  if (lease?.tokens === undefined || lease.tokens >= tokenDemand(request, tier).atMost) return maxTokens;
  return Math.min(maxTokens ?? Infinity, lease.tokens - estimatePromptTokens(request.messages));
}
