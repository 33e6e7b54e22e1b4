import type { UsageFigures } from '../../usage/reports/usage-figures.js';

/** The sums of some requests: counts, tokens and costs. */
export class UsageSum {
  requests = 0;
  completed = 0;
  errors = 0;
  inputTokens = 0;
  outputTokens = 0;
  tokensUnknown = 0;
  tokensEstimated = 0;
  withoutCost = 0;
  /**
   * The costs by currency, because the currency of the configuration may have changed. Empty if no request had both a
   * price and known tokens.
   */
  readonly costs = new Map<string, number>();

  addRow(row: UsageFigures): void {
    this.addCounts(row);
    if (row.cost !== undefined && row.currency !== null) this.addCost(row.currency, row.cost);
  }

  add(other: UsageSum): void {
    this.addCounts(other);
    for (const [currency, cost] of other.costs) this.addCost(currency, cost);
  }

  private addCounts(other: Omit<UsageFigures, 'cost'> | UsageSum): void {
    this.requests += other.requests;
    this.completed += other.completed;
    this.errors += other.errors;
    this.inputTokens += other.inputTokens;
    this.outputTokens += other.outputTokens;
    this.tokensUnknown += other.tokensUnknown;
    this.tokensEstimated += other.tokensEstimated;
    this.withoutCost += other.withoutCost;
  }

  private addCost(currency: string, cost: number): void {
    this.costs.set(currency, (this.costs.get(currency) ?? 0) + cost);
  }
}

/** The sum of this name. Adds an empty sum if there is none. */
export function sumIn(sums: Map<string, UsageSum>, name: string): UsageSum {
  let sum = sums.get(name);
  if (sum === undefined) sums.set(name, (sum = new UsageSum()));
  return sum;
}

/** Sorts the sums by their number of requests, highest first. */
export function busiestFirst<T>(sums: Iterable<readonly [T, UsageSum]>): readonly (readonly [T, UsageSum])[] {
  return [...sums].sort(([, one], [, other]) => other.requests - one.requests);
}
