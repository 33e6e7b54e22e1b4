import type { RequestContext } from '../../../plugin-api/core/http.js';
import type { UsageRecord } from '../../../plugin-api/core/usage.js';

/** The token counts of an answer, as the ledger has them: reported by the provider, or estimated. */
export interface AnswerUsage {
  /** `undefined`: the count is unknown. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedInputTokens: number | undefined;
  readonly cacheWriteInputTokens: number | undefined;
  readonly reasoningOutputTokens: number | undefined;
}

/** Returns the token counts of the completion of a request. The completion must be over. */
export function answerUsage({ ledgerEntry }: RequestContext): AnswerUsage {
  let record: UsageRecord | undefined;
  ledgerEntry?.whenOver((over) => {
    record = over;
  });
  return usageOf(record);
}

export function usageOf(record: UsageRecord | undefined): AnswerUsage {
  return {
    inputTokens: record?.inputTokens.count,
    outputTokens: record?.outputTokens.count,
    cachedInputTokens: record?.cachedInputTokens,
    cacheWriteInputTokens: record?.cacheWriteInputTokens,
    reasoningOutputTokens: record?.reasoningOutputTokens,
  };
}
