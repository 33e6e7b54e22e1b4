import type { CallTrace } from '../../upstreams/completion/call-trace.js';
import { estimateTokens, tokensOfSample, type PromptSample } from './token-estimate.js';
import type { TokenCount, UsageRecord } from './usage-record.js';

const UNKNOWN: TokenCount = { source: 'unknown' };

/**
 * Returns the tokens of the prompt. They are unknown if no provider accepted the request. A reported 0 means that the
 * provider has not counted: a prompt has at least one token.
 *
 * @param maxPlausible the highest plausible count. An implausible count is marked, and replaced by an estimate.
 */
export function inputTokensOf(
  { usage, lastAttempt }: CallTrace,
  prompt: PromptSample,
  maxPlausible: number,
): TokenCount {
  const reported = usage.inputTokens === 0 ? undefined : usage.inputTokens;
  if (reported !== undefined && isPlausible(reported, maxPlausible)) return { source: 'reported', count: reported };
  const isTaken = reported !== undefined || lastAttempt?.accepted === true;
  return withoutReport(reported, isTaken ? Math.min(tokensOfSample(prompt), maxPlausible) : undefined);
}

/**
 * Returns the tokens of the answer. A count before the finish reason is not final: the tokens of an unfinished answer are
 * estimated from its text, and are at least the reported count. A reported 0 next to a text means that the provider has not
 * counted.
 *
 * @param maxPlausible see {@link inputTokensOf}.
 */
export function outputTokensOf(
  { usage, finish, sample, textLength }: CallTrace,
  isWhole: boolean,
  maxPlausible: number,
): TokenCount {
  const reported = usage.outputTokens === 0 && textLength > 0 ? undefined : usage.outputTokens;
  const isBelievable = reported !== undefined && isPlausible(reported, maxPlausible);
  if (isBelievable && (isWhole || finish !== undefined)) return { source: 'reported', count: reported };
  if (textLength === 0) return withoutReport(isBelievable ? undefined : reported, undefined);
  const estimated = Math.min(estimateTokens(sample, textLength), maxPlausible);
  if (isBelievable) return { source: 'estimated', count: Math.max(reported, estimated) };
  return withoutReport(reported, estimated);
}

/**
 * Returns the tokens that a stream takes from the quota of its account. Unknown counts are left out, as in the ledger's
 * sums.
 */
export function quotaTokens({ inputTokens, outputTokens }: UsageRecord): number {
  return (inputTokens.count ?? 0) + (outputTokens.count ?? 0);
}

/** @param reported an implausible count, or `undefined`. */
function withoutReport(reported: number | undefined, estimated: number | undefined): TokenCount {
  if (reported !== undefined) return { source: 'implausible', reported, count: estimated };
  return estimated === undefined ? UNKNOWN : { source: 'estimated', count: estimated };
}

/** Checks the type too, because a protocol of a team may be written without types. */
function isPlausible(count: number, maxPlausible: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= maxPlausible;
}
