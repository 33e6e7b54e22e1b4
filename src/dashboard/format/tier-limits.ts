import type { TierConfig } from '../../config/config.js';
import { LIMITS, LIMIT_NAMES, type LimitName } from '../../config/limits/limit-table.js';
import { count } from './numbers.js';

/** The limits of a tier as texts: the name of each limit, and its value. */
export function limitsOf(tier: TierConfig): readonly (readonly [label: string, limit: string])[] {
  const limits = [
    ...LIMIT_NAMES.map((name) => [limitLabel(name), tier[name]] as const),
    ['Tokens per answer', tier.maxTokens] as const,
  ];
  return limits.map(([label, limit]) => [label, limit === undefined ? 'No limit' : count(limit)]);
}

/** The name of a limit at the beginning of a line. */
export function limitLabel(name: LimitName): string {
  const { label } = LIMITS[name];
  return label.charAt(0).toUpperCase() + label.slice(1);
}
