import type { UsageSum } from './usage-sum.js';

const COUNTS = new Intl.NumberFormat('en-US');
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MOST_DECIMALS = 6;

/** The sign for a figure that is partly an estimate. */
export const ESTIMATED = '≈';
/** The sign for a figure that leaves out unknown values. */
export const AT_LEAST = '≥';

export function count(number: number): string {
  return COUNTS.format(number);
}

/** A number of tokens as text, with a sign if the number is an estimate or leaves out unknown values. */
export function tokens(number: number, { requests, tokensUnknown, tokensEstimated }: UsageSum): string {
  if (number === 0 && requests > 0 && tokensUnknown === requests) return 'unknown';
  if (tokensUnknown > 0) return `${AT_LEAST} ${count(number)}`;
  return tokensEstimated > 0 ? `${ESTIMATED} ${count(number)}` : count(number);
}

export function cost({ costs, withoutCost, tokensEstimated }: UsageSum): string {
  if (costs.size === 0) return '–';
  const sign = withoutCost > 0 ? `${AT_LEAST} ` : tokensEstimated > 0 ? `${ESTIMATED} ` : '';
  return sign + [...costs].map(([currency, amount]) => money(amount, currency)).join(' + ');
}

/** The short form of a day `YYYY-MM-DD`: "5 Nov". */
export function shortDay(day: string): string {
  return DAYS.format(new Date(day));
}

/** An amount of money as text: 2 decimals from 1 on, at most 4 from 0.01 on, at most 6 below 0.01. */
function money(amount: number, currency: string): string {
  const maximumFractionDigits = amount >= 1 ? 2 : amount >= 0.01 ? 4 : MOST_DECIMALS;
  const format = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits } as const;
  return new Intl.NumberFormat('en-US', format).format(amount);
}
