import type { TokenUsage } from '../stream-part.js';

/** A vendor's count of tokens; `undefined` for whatever is not a count. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
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
