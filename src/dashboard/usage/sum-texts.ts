import { decimalsFor, money } from '../format/money.js';
import { AT_LEAST, count, ESTIMATED } from '../format/numbers.js';
import type { UsageSum } from './usage-sum.js';

/** A number of tokens as text, with a sign if the number is an estimate or leaves out unknown values. */
export function tokens(number: number, { requests, tokensUnknown, tokensEstimated }: UsageSum): string {
  if (number === 0 && requests > 0 && tokensUnknown === requests) return 'unknown';
  if (tokensUnknown > 0) return `${AT_LEAST} ${count(number)}`;
  return tokensEstimated > 0 ? `${ESTIMATED} ${count(number)}` : count(number);
}

/**
 * The costs of a sum as text, by currency.
 *
 * @param decimals the number of decimals by currency, for all costs on a page. By default, what this sum needs.
 */
export function cost({ costs, withoutCost, tokensEstimated }: UsageSum, decimals?: CostDecimals): string {
  if (costs.size === 0) return '–';
  const sign = withoutCost > 0 ? `${AT_LEAST} ` : tokensEstimated > 0 ? `${ESTIMATED} ` : '';
  return sign + [...costs].map(([currency, amount]) => money(amount, currency, decimals?.get(currency))).join(' + ');
}

/** The number of decimals of all costs on a page, by currency. */
export type CostDecimals = ReadonlyMap<string, number>;

export function decimalsOfSums(sums: readonly UsageSum[]): CostDecimals {
  return decimalsOf(sums.flatMap(({ costs }) => [...costs]));
}

export function decimalsOf(amounts: readonly (readonly [currency: string, amount: number])[]): CostDecimals {
  const currencies = new Set(amounts.map(([currency]) => currency));
  const amountsIn = (wanted: string) => amounts.filter(([currency]) => currency === wanted).map(([, amount]) => amount);
  return new Map([...currencies].map((currency) => [currency, decimalsFor(amountsIn(currency))]));
}
