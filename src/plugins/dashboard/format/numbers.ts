import { LIMIT_NAMES, type LimitName, LIMITS, type TierConfig } from '../../../plugin-api/core/config.js';

export { money } from '../../../client/money.js';

const COUNTS = new Intl.NumberFormat('en-US');

/** The sign for a figure that is partly an estimate. */
export const ESTIMATED = '≈';
/** The sign for a figure that leaves out unknown values. */
export const AT_LEAST = '≥';

export function count(number: number): string {
  return COUNTS.format(number);
}

/** A number of things, such as "1 request" or "2,000 requests". */
export function countOf(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${count(number)} ${what}s`;
}

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
