import type { TokenUsage } from '../../contract/stream-part.js';

type WholeCounts = Pick<TokenUsage, 'inputTokens' | 'outputTokens'>;

/**
 * Returns the counts of the prompt and of the answer so that they add up to the total of the provider. Some providers leave
 * reasoning out of the count of the answer, but not out of the total. A total that is not above the prompt decides nothing.
 */
export function agreedCounts(
  input: number | undefined,
  output: number | undefined,
  total: number | undefined,
): WholeCounts {
  const counts = { inputTokens: input, outputTokens: output };
  if (total === undefined || !Number.isFinite(total)) return counts;
  if (input === undefined)
    return output !== undefined && total > output ? { ...counts, inputTokens: total - output } : counts;
  return total > input ? { ...counts, outputTokens: total - input } : counts;
}
