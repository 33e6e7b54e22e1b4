import type { UsageRow } from '../../usage/usage-reports.js';

type Counts = Pick<
  UsageRow,
  | 'requests'
  | 'completed'
  | 'errors'
  | 'promptTokens'
  | 'completionTokens'
  | 'tokensUnknown'
  | 'tokensEstimated'
  | 'withoutCost'
>;

/** What some requests come to. */
export interface UsageSum extends Counts {
  /** By currency: prices may have been in another one before. Empty where nothing had a price and known tokens. */
  readonly costs: ReadonlyMap<string, number>;
}

export const NOTHING: UsageSum = {
  requests: 0,
  completed: 0,
  errors: 0,
  promptTokens: 0,
  completionTokens: 0,
  tokensUnknown: 0,
  tokensEstimated: 0,
  withoutCost: 0,
  costs: new Map(),
};

export function sumOf(rows: readonly UsageRow[]): UsageSum {
  return rows.reduce(plus, NOTHING);
}

/** By whatever `keyOf` says, in the order in which it first says so. */
export function sumsBy(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): ReadonlyMap<string, UsageSum> {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) sums.set(keyOf(row), plus(sums.get(keyOf(row)) ?? NOTHING, row));
  return sums;
}

/** Those with the most requests first. */
export function busiestFirst<T>(sums: ReadonlyMap<T, UsageSum>): readonly (readonly [T, UsageSum])[] {
  return [...sums].sort(([, one], [, other]) => other.requests - one.requests);
}

function plus(sum: UsageSum, row: UsageRow): UsageSum {
  return {
    requests: sum.requests + row.requests,
    completed: sum.completed + row.completed,
    errors: sum.errors + row.errors,
    promptTokens: sum.promptTokens + row.promptTokens,
    completionTokens: sum.completionTokens + row.completionTokens,
    tokensUnknown: sum.tokensUnknown + row.tokensUnknown,
    tokensEstimated: sum.tokensEstimated + row.tokensEstimated,
    withoutCost: sum.withoutCost + row.withoutCost,
    costs: withCost(sum.costs, row),
  };
}

function withCost(costs: ReadonlyMap<string, number>, { cost, currency }: UsageRow): ReadonlyMap<string, number> {
  if (cost === undefined || currency === null) return costs;
  return new Map(costs).set(currency, (costs.get(currency) ?? 0) + cost);
}
