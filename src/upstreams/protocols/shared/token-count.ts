import type { TokenUsage } from '../../contract/stream-part.js';

/**
 * Returns a token count of a provider, or `undefined` for a value that is not a number. A number that cannot be a count,
 * such as -5 or 1.5, becomes infinity: the ledger then marks the count as implausible instead of missing.
 */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== 'number') return undefined;
  return Number.isInteger(value) && value >= 0 ? value : Infinity;
}

/** Combines the known counts. Returns `undefined` when both counts are missing. */
export function tokenUsage(inputTokens: number | undefined, outputTokens: number | undefined): TokenUsage | undefined {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
}
