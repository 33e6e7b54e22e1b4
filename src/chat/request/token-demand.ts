import type { TierConfig } from '../../platform/config/config.js';
import type { TokenDemand } from '../../throttling/limit-store.js';
import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import { promptTokens, type PromptTokens } from '../../upstreams/tokens/prompt-tokens.js';

/** An answer without a limit gets a part of the smallest limit of tokens, so that other requests can run at the same time. */
const SHARE_OF_LIMIT = 1 / 10;
/** It gets at least the tokens of a usual answer, if so many are left. */
const USUAL_ANSWER_TOKENS = 1024;
/** With a large limit, it gets no more than a long answer has. Otherwise ten requests would take the whole limit. */
const LONG_ANSWER_TOKENS = 32 * 1024;

/**
 * Returns the tokens to reserve for a request: the most that its prompt and its answer can have.
 *
 * @param smallestLimit the smallest limit of tokens that the request must pass.
 */
export function tokenDemand(
  request: ConversationRequest,
  tier: TierConfig,
  smallestLimit = 0,
): TokenDemand | Promise<TokenDemand> {
  const requested = request.max_tokens;
  // A limit above the tier's maximum is invalid, and the request is rejected later.
  if (requested !== undefined && requested > (tier.maxTokens ?? Infinity)) return { atLeast: 0, atMost: 0 };
  const tokens = promptTokens(request);
  return tokens instanceof Promise
    ? tokens.then((counted) => demandOf(request, tier, smallestLimit, counted))
    : demandOf(request, tier, smallestLimit, tokens);
}

function demandOf(
  { max_tokens: requested }: ConversationRequest,
  tier: TierConfig,
  smallestLimit: number,
  { atMost: prompt }: PromptTokens,
): TokenDemand {
  const share = Math.min(LONG_ANSWER_TOKENS, Math.floor(smallestLimit * SHARE_OF_LIMIT));
  const usual = Math.max(USUAL_ANSWER_TOKENS, share);
  return { atLeast: prompt + (requested ?? 1), atMost: prompt + (requested ?? tier.maxTokens ?? usual), prompt };
}

/**
 * Returns the limit of the answer, so that the prompt and the answer have no more tokens than the limits of the account have granted.
 * The limit is at least 1: an endpoint of a plugin may reserve fewer tokens than its prompt has.
 *
 * @param granted `undefined`: no limit counts tokens.
 * @param prompt the most tokens of the prompt for which they were granted. Hooks may have made it longer since.
 */
export function withinGrant(
  maxTokens: number | undefined,
  granted: number | undefined,
  prompt: number,
): number | undefined {
  if (granted === undefined) return maxTokens;
  return Math.min(maxTokens ?? Infinity, Math.max(1, granted - prompt));
}
