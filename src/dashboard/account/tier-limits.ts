import type { TierConfig } from '../../config/config.js';
import { count } from '../usage/number-text.js';

/** The limits of a tier as texts: the name of each limit, and its value. */
export function limitsOf(tier: TierConfig): readonly (readonly [label: string, limit: string])[] {
  const limits = [
    ['Requests per minute', tier.requestsPerMinute],
    ['Concurrent streams', tier.concurrentStreams],
    ['Tokens per answer', tier.maxTokens],
    ['Tokens per day', tier.tokensPerDay],
  ] as const;
  return limits.map(([label, limit]) => [label, limit === undefined ? 'No limit' : count(limit)]);
}
