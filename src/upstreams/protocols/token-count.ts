import type { TokenUsage } from '../stream-part.js';

/**
 * A vendor's count of tokens; `undefined` for whatever is not a number. A number that cannot be a count, such as -5 or 1.5,
 * becomes infinity: the ledger then marks it as implausible instead of missing.
 */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== 'number') return undefined;
  return Number.isInteger(value) && value >= 0 ? value : Infinity;
}

/** The counts that are there; `undefined` when none is. */
export function tokenUsage(
  promptTokens: number | undefined,
  completionTokens: number | undefined,
): TokenUsage | undefined {
  if (promptTokens === undefined && completionTokens === undefined) return undefined;
  return {
    ...(promptTokens !== undefined && { promptTokens }),
    ...(completionTokens !== undefined && { completionTokens }),
  };
}
