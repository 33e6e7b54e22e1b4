import type { UsageFigures } from '../../../plugin-api/core/usage.js';

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

interface Busiest<T> {
  /** The sums with the most requests, highest first. */
  readonly busiest: readonly (readonly [T, UsageSum])[];
  readonly otherCount: number;
  /** The sum of all others. */
  readonly others: UsageSum;
}

type Compare<T> = (one: T, other: T) => number;

/** Inserts an entry into the highest ones, highest first. Returns the entry that is one too many. */
export function insertInto<T>(highest: T[], entry: T, limit: number, compare: Compare<T>): T | undefined {
  // From the end, because most entries of a long list are not among the highest.
  const above = highest.findLastIndex((other) => compare(other, entry) >= 0);
  highest.splice(above + 1, 0, entry);
  return highest.length > limit ? highest.pop() : undefined;
}

/** Divides the sums into the `limit` busiest and the others. Does not sort them all, because there may be 100,000 keys. */
export function busiestOf<T>(sums: Iterable<readonly [T, UsageSum]>, limit: number): Busiest<T> {
  const busiest: (readonly [T, UsageSum])[] = [];
  const others = new UsageSum();
  let otherCount = 0;
  for (const entry of sums) {
    const other = insertInto(busiest, entry, limit, ([, one], [, another]) => one.requests - another.requests);
    if (other === undefined) continue;
    otherCount += 1;
    others.add(other[1]);
  }
  return { busiest, otherCount, others };
}
