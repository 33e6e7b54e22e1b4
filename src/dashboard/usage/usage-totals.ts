import type { UsageReports, UsageRow } from '../../usage/reports/usage-reports.js';
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
  /** The cost by model and day, in the unit of the currency. */
  readonly costByModel = new Map<string, Map<string, number>>();
  private readonly clients = new Map<string, readonly [KeyClient, UsageSum]>();

  get byKey(): Iterable<readonly [KeyClient, UsageSum]> {
    return this.clients.values();
  }

  /** The costs of all sums, by currency. */
  get costs(): readonly (readonly [currency: string, cost: number])[] {
    const sums = [this.total, ...this.byDay.values(), ...this.byModel.values()];
    const ofKeys = [...this.clients.values()].map(([, sum]) => sum);
    return [...sums, ...ofKeys].flatMap(({ costs }) => [...costs]);
  }

  /** @param isShown whether the totals include a row. */
  constructor(private readonly isShown: (row: UsageRow) => boolean = () => true) {}

  /** Adds the rows of the period, page by page. */
  async read(reports: Pick<UsageReports, 'pages'>, accountId: string, from: Date, to: Date): Promise<this> {
    for await (const rows of reports.pages(from, to, accountId)) this.add(rows);
    return this;
  }

  /** The sum of an API key. `undefined` if no row has the key. */
  sumOfKey(keyId: string): UsageSum | undefined {
    return this.clients.get(clientName('api_key', keyId))?.[1];
  }

  private add(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      this.models.add(row.model);
      if (!this.isShown(row)) continue;
      this.total.addRow(row);
      sumIn(this.byDay, row.day).addRow(row);
      sumIn(this.byModel, row.model).addRow(row);
      this.addDailyCost(row);
      this.sumOf(row).addRow(row);
    }
  }

  private addDailyCost({ model, day, cost = 0 }: UsageRow): void {
    let days = this.costByModel.get(model);
    if (days === undefined) this.costByModel.set(model, (days = new Map<string, number>()));
    days.set(day, (days.get(day) ?? 0) + cost);
  }

  private sumOf({ credential, keyId, keyPrefix }: KeyClient): UsageSum {
    const name = clientName(credential, keyId);
    const known = this.clients.get(name);
    if (known !== undefined) return known[1];
    const sum = new UsageSum();
    this.clients.set(name, [{ credential, keyId, keyPrefix }, sum]);
    return sum;
  }
}

function clientName(credential: UsageRow['credential'], keyId: string | null): string {
  return `${credential} ${keyId ?? ''}`;
}
