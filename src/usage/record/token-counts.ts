import type { CallTrace } from '../../upstreams/completion/call-trace.js';
import { ESTIMATE_MARGIN } from '../../upstreams/tokens/prompt-tokens.js';
import type { TokenCount, UsageRecord } from './usage-record.js';

const UNKNOWN: TokenCount = { source: 'unknown' };

/**
 * Returns the tokens of the prompt. They are unknown if no provider accepted the request, and of a failure before the provider has
 * sent anything, which costs nothing unless the provider reports tokens. A reported 0 means that the provider has not counted: a
 * prompt has at least one token.
 *
 * @param estimated the estimated tokens of the prompt.
 * @param maxPlausible the highest plausible count. An implausible count is marked, and replaced by an estimate.
 * @param hasFailed whether the outcome is one of the failures.
 */
export function inputTokensOf(
  { usage, lastAttempt, passedTokens }: CallTrace,
  estimated: number,
  maxPlausible: number,
  hasFailed = false,
): TokenCount {
  const reported = usage.inputTokens === 0 ? undefined : usage.inputTokens;
  if (reported !== undefined && isPlausible(reported, maxPlausible)) return { source: 'reported', count: reported };
  const isCharged = lastAttempt?.accepted === true && !(hasFailed && passedTokens === 0);
  const isTaken = reported !== undefined || isCharged;
  return withoutReport(reported, isTaken ? Math.min(estimated, maxPlausible) : undefined);
}

/**
 * Returns the tokens of the answer. A count before the finish reason is not final: the tokens of an unfinished answer are
 * estimated from what the provider has sent, and are at least the reported count. A reported 0 next to an answer means that the
 * provider has not counted.
 *
 * @param maxPlausible see {@link inputTokensOf}.
 * @param maxTokens the limit that the provider got. `undefined`: none.
 */
export function outputTokensOf(
  { usage, finish, passedTokens }: CallTrace,
  isWhole: boolean,
  maxPlausible: number,
  maxTokens?: number,
): TokenCount {
  const reported = usage.outputTokens === 0 && passedTokens > 0 ? undefined : usage.outputTokens;
  const isBelievable = reported !== undefined && isPlausible(reported, maxPlausible);
  if (isBelievable && (isWhole || finish !== undefined)) return { source: 'reported', count: reported };
  const estimated = Math.min(withinLimit(passedTokens, maxTokens), maxPlausible);
  if (isBelievable) return { source: 'estimated', count: Math.max(reported, estimated) };
  return withoutReport(reported, passedTokens === 0 ? undefined : estimated);
}

/**
 * A provider ends an answer at its limit, so an estimate that is a little higher is an error of the estimate. A provider that has
 * sent much more does not know the limit.
 */
function withinLimit(estimated: number, maxTokens = Infinity): number {
  return estimated > maxTokens && estimated <= ESTIMATE_MARGIN * maxTokens ? maxTokens : estimated;
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
