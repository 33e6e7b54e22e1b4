import type { UsageFigures } from '../../../plugin-api/core/usage.js';
import { AT_LEAST, count, ESTIMATED, money, countOf } from '../numbers-and-times.js';

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

/** A number of tokens as text, with a sign if the number is an estimate or leaves out unknown values. */
export function tokens(number: number, { requests, tokensUnknown, tokensEstimated }: UsageSum): string {
  if (number === 0 && requests > 0 && tokensUnknown === requests) return 'unknown';
  if (tokensUnknown > 0) return `${AT_LEAST} ${count(number)}`;
  return tokensEstimated > 0 ? `${ESTIMATED} ${count(number)}` : count(number);
}

/** The costs of a sum as text, by currency. */
export function cost({ costs, withoutCost, tokensEstimated }: UsageSum): string {
  if (costs.size === 0) return '–';
  const sign = withoutCost > 0 ? `${AT_LEAST} ` : tokensEstimated > 0 ? `${ESTIMATED} ` : '';
  return sign + [...costs].map(([currency, amount]) => money(amount, currency)).join(' + ');
}

interface SignNotesProps {
  /** The sums of the page. */
  readonly sums: readonly UsageSum[];
  readonly withCost: boolean;
  /** Whether the sums are shown with their tokens. */
  readonly withTokens?: boolean;
}

/** Explains the signs in front of figures, at the end of a page. Shows nothing if no figure has a sign. */
export function SignNotes({ sums, withCost, withTokens = false }: SignNotesProps) {
  const hasEstimates = (withCost || withTokens) && sums.some(({ tokensEstimated }) => tokensEstimated > 0);
  const lacksTokens = withTokens && sums.some(({ tokensUnknown }) => tokensUnknown > 0);
  const lacksCosts = withCost && sums.some(({ withoutCost }) => withoutCost > 0);
  const notes = [
    lacksTokens && `${AT_LEAST} At least: tokens do not include requests without token counts.`,
    lacksCosts &&
      `${AT_LEAST} At least: cost does not include requests without token counts or without a price of the model.`,
    hasEstimates && `${ESTIMATED} Partly estimated, because the provider did not report all token counts.`,
  ].filter((note) => note !== false);
  if (notes.length === 0) return null;
  return (
    <ul class="fine notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

interface SpendFiguresProps {
  /** `YYYY-MM-DD`, oldest first. The last one is today. `undefined`: the user has chosen the days. */
  readonly days: readonly string[] | undefined;
  readonly byDay: ReadonlyMap<string, UsageSum>;
  readonly total: UsageSum;
  readonly withCost: boolean;
}

/** The most important figures: what was spent today, in the last 7 days, and in the period. */
export function SpendFigures({ days, byDay, total, withCost }: SpendFiguresProps) {
  if (days === undefined) return <Figures figures={[['These days', total]]} withCost={withCost} />;
  const figures: [label: string, sum: UsageSum][] = [
    ['Today', sumOf(days.slice(-1), byDay)],
    ['Last 7 days', sumOf(days.slice(-7), byDay)],
    ...(days.length > 7 ? [[`Last ${days.length} days`, total] as [string, UsageSum]] : []),
  ];
  return <Figures figures={figures} withCost={withCost} />;
}

interface FiguresProps {
  readonly figures: readonly (readonly [label: string, sum: UsageSum])[];
  readonly withCost: boolean;
}

/** Figures in large type, each with its label. */
export function Figures({ figures, withCost }: FiguresProps) {
  return (
    <dl class="figures">
      {figures.map(([label, sum]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {withCost ? (
              <strong>{sum.requests === 0 ? '0' : cost(sum)}</strong>
            ) : (
              <strong>{count(sum.requests)}</strong>
            )}
            <small>{withCost ? countOf(sum.requests, 'request') : sum.requests === 1 ? 'request' : 'requests'}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function sumOf(days: readonly string[], byDay: ReadonlyMap<string, UsageSum>): UsageSum {
  const sum = new UsageSum();
  for (const day of days) {
    const known = byDay.get(day);
    if (known !== undefined) sum.add(known);
  }
  return sum;
}
