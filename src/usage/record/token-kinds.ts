import type { TokenUsage } from '../../upstreams/contract/stream-part.js';
import type { TokenCount, UsageRecord } from './usage-record.js';

type TokenKinds = Pick<UsageRecord, 'cachedInputTokens' | 'cacheWriteInputTokens' | 'reasoningOutputTokens'>;

/**
 * Returns the parts of the counts that the provider has reported by kind. A part is unknown next to a whole that the
 * provider has not reported, and if it is larger than its whole.
 *
 * @param usage the report of the provider.
 */
export function tokenKindsOf(usage: TokenUsage, input: TokenCount, output: TokenCount): TokenKinds {
  const { cachedInputTokens, cacheWriteInputTokens, reasoningOutputTokens } = usage;
  const cache = (cachedInputTokens ?? 0) + (cacheWriteInputTokens ?? 0);
  const isCacheBelievable =
    isPartOf(cachedInputTokens, input) && isPartOf(cacheWriteInputTokens, input) && isPartOf(cache, input);
  return {
    cachedInputTokens: isCacheBelievable ? cachedInputTokens : undefined,
    cacheWriteInputTokens: isCacheBelievable ? cacheWriteInputTokens : undefined,
    reasoningOutputTokens: isPartOf(reasoningOutputTokens, output) ? reasoningOutputTokens : undefined,
  };
}

/** Checks the type too, because a protocol of a team may be written without types. */
function isPartOf(part: number | undefined, whole: TokenCount): boolean {
  if (part === undefined) return true;
  return Number.isInteger(part) && part >= 0 && whole.source === 'reported' && part <= whole.count;
}
