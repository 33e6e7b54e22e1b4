import type { CallTrace } from '../../upstreams/call-trace.js';
import type { ChatMessage } from '../../upstreams/chat-call.js';
import { estimatePromptTokens, estimateTokens } from './token-estimate.js';
import type { TokenCount, UsageRecord } from './usage-record.js';

const UNKNOWN: TokenCount = { source: 'unknown' };

/**
 * Tokens of the prompt: none are known of a request that no vendor has taken.
 *
 * @param most the highest plausible count. A count that is not plausible is replaced by an estimate, and marked.
 */
export function promptTokensOf(
  { usage, lastAttempt }: CallTrace,
  prompt: readonly ChatMessage[],
  most: number,
): TokenCount {
  const { promptTokens: reported } = usage;
  if (reported !== undefined && isPlausible(reported, most)) return { source: 'reported', count: reported };
  const isTaken = reported !== undefined || lastAttempt?.accepted === true;
  return withoutReport(reported, isTaken ? Math.min(estimatePromptTokens(prompt), most) : undefined);
}

/**
 * Tokens of the answer. What a vendor reports before it has finished is not the end of it: an answer that broke off is
 * estimated from its text, and is at least what was reported.
 *
 * @param most as for {@link promptTokensOf}.
 */
export function completionTokensOf(
  { usage, finish, sample, textLength }: CallTrace,
  isWhole: boolean,
  most: number,
): TokenCount {
  const { completionTokens: reported } = usage;
  const isBelievable = reported !== undefined && isPlausible(reported, most);
  if (isBelievable && (isWhole || finish !== undefined)) return { source: 'reported', count: reported };
  if (textLength === 0) return withoutReport(isBelievable ? undefined : reported, undefined);
  const estimated = Math.min(estimateTokens(sample, textLength), most);
  if (isBelievable) return { source: 'estimated', count: Math.max(reported, estimated) };
  return withoutReport(reported, estimated);
}

/** What a stream takes of its account's tokens: as in the sums of the ledger, what nobody knows is left out. */
export function knownTokens({ promptTokens, completionTokens }: UsageRecord): number {
  return (promptTokens.count ?? 0) + (completionTokens.count ?? 0);
}

/** @param reported an implausible count, or none. */
function withoutReport(reported: number | undefined, estimated: number | undefined): TokenCount {
  if (reported !== undefined) return { source: 'implausible', reported, count: estimated };
  return estimated === undefined ? UNKNOWN : { source: 'estimated', count: estimated };
}

/** Checks the type too, because a protocol of a team may be written without types. */
function isPlausible(count: number, most: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= most;
}
