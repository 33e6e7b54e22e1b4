import type { UsageRow } from '../../../plugin-api/core/usage.js';
import { sumIn, UsageSum } from './usage-sum.js';

/** The credential of a request, as the table by key distinguishes credentials. */
export type KeyClient = Pick<UsageRow, 'credential' | 'keyId' | 'keyPrefix'>;

/** The usage of an account, summed up for the page: by day, by model and by key. */
export class UsageTotals {
  readonly total = new UsageSum();
  readonly byDay = new Map<string, UsageSum>();
  readonly byModel = new Map<string, UsageSum>();
  /** The models of all rows, also of rows that the totals do not include. */
  readonly models = new Set<string>();
  /** The cost by series and day, in the unit of the currency. */
  readonly costs = new Map<string, Map<string, number>>();
  private readonly clients = new Map<string, readonly [KeyClient, UsageSum]>();

  get byKey(): Iterable<readonly [KeyClient, UsageSum]> {
    return this.clients.values();
  }

  /**
   * @param isShown whether the totals include a row.
   * @param seriesOf the series of the chart of costs that a row belongs to: its model, or the {@link clientName} of its key.
   */
  constructor(
    private readonly isShown: (row: UsageRow) => boolean = () => true,
    private readonly seriesOf: (row: UsageRow) => string = ({ model }) => model,
  ) {}

  /** Adds the rows, page by page. */
  async read(pages: AsyncIterable<readonly UsageRow[]>): Promise<this> {
    for await (const rows of pages) this.add(rows);
    return this;
  }

  /** The credential of a series. `undefined`: the series is a model. */
  clientOf(series: string): KeyClient | undefined {
    return this.clients.get(series)?.[0];
  }

  /** The sum of an API key. `undefined` if no row has the key. */
  sumOfKey(keyId: string): UsageSum | undefined {
    return this.clients.get(clientName({ credential: 'api_key', keyId }))?.[1];
  }

  private add(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      this.models.add(row.model);
      if (!this.isShown(row)) continue;
      this.total.addRow(row);
      sumIn(this.byDay, row.day).addRow(row);
      sumIn(this.byModel, row.model).addRow(row);
      this.addCost(row);
      this.sumOf(row).addRow(row);
    }
  }

  private addCost(row: UsageRow): void {
    const { day, cost = 0 } = row;
    const series = this.seriesOf(row);
    let days = this.costs.get(series);
    if (days === undefined) this.costs.set(series, (days = new Map<string, number>()));
    days.set(day, (days.get(day) ?? 0) + cost);
  }

  private sumOf({ credential, keyId, keyPrefix }: KeyClient): UsageSum {
    const name = clientName({ credential, keyId });
    const known = this.clients.get(name);
    if (known !== undefined) return known[1];
    const sum = new UsageSum();
    this.clients.set(name, [{ credential, keyId, keyPrefix }, sum]);
    return sum;
  }
}

/** The name of a credential among all of an account. */
export function clientName({ credential, keyId }: Pick<UsageRow, 'credential' | 'keyId'>): string {
  return `${credential} ${keyId ?? ''}`;
}
