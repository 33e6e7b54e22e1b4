import type { CallTrace } from '../upstreams/call-trace.js';
import type { ChatMessage } from '../upstreams/chat-call.js';
import { estimatePromptTokens, estimateTokens } from './token-estimate.js';
import type { TokenCount, UsageRecord } from './usage-record.js';

const UNKNOWN: TokenCount = { source: 'unknown' };

/** Tokens of the prompt: none are known of a request that no vendor has taken. */
export function promptTokensOf({ usage, lastAttempt }: CallTrace, prompt: readonly ChatMessage[]): TokenCount {
  if (usage.promptTokens !== undefined) return { source: 'reported', count: usage.promptTokens };
  if (lastAttempt?.accepted !== true) return UNKNOWN;
  return { source: 'estimated', count: estimatePromptTokens(prompt) };
}

/**
 * Tokens of the answer. What a vendor reports before it has finished is not the end of it: an answer that broke off is
 * estimated from its text, and is at least what was reported.
 */
export function completionTokensOf({ usage, finish, sample, textLength }: CallTrace, isWhole: boolean): TokenCount {
  const { completionTokens: reported } = usage;
  if (reported !== undefined && (isWhole || finish !== undefined)) return { source: 'reported', count: reported };
  if (textLength === 0) return UNKNOWN;
  return { source: 'estimated', count: Math.max(reported ?? 0, estimateTokens(sample, textLength)) };
}

/** What a stream takes of its account's tokens: as in the sums of the ledger, what nobody knows is left out. */
export function knownTokens({ promptTokens, completionTokens }: UsageRecord): number {
  return (promptTokens.count ?? 0) + (completionTokens.count ?? 0);
}
