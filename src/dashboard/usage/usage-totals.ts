import { startOfDay } from '../../common/utc-day.js';
import { TooManyRows, type UsageReports, type UsageRow } from '../../usage/reports/usage-reports.js';
import { sumIn, UsageSum } from './usage-sum.js';

/** The credential of a request, as the table by key distinguishes credentials. */
export type KeyParty = Pick<UsageRow, 'credential' | 'keyId' | 'keyPrefix'>;

/** The usage of an account, summed up for the page: by day, by model and by key. */
export class UsageTotals {
  readonly total = new UsageSum();
  readonly byDay = new Map<string, UsageSum>();
  readonly byModel = new Map<string, UsageSum>();
  /** The cost by model and day, in the unit of the currency. */
  readonly costByModel = new Map<string, Map<string, number>>();
  private readonly parties = new Map<string, readonly [KeyParty, UsageSum]>();

  get byKey(): Iterable<readonly [KeyParty, UsageSum]> {
    return this.parties.values();
  }

  /** @param isShown whether the totals include a row. */
  constructor(private readonly isShown: (row: UsageRow) => boolean = () => true) {}

  /** Adds the rows of the period. Splits the period in half if the period has more rows than one report allows. */
  async read(reports: UsageReports, accountId: string, from: Date, to: Date): Promise<this> {
    try {
      this.add(await reports.daily(accountId, from, to));
    } catch (error) {
      const middle = new Date(startOfDay((from.getTime() + to.getTime()) / 2));
      if (!(error instanceof TooManyRows) || middle <= from) throw error;
      await this.read(reports, accountId, from, middle);
      await this.read(reports, accountId, middle, to);
    }
    return this;
  }

  private add(rows: readonly UsageRow[]): void {
    for (const row of rows) {
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

  private sumOf({ credential, keyId, keyPrefix }: KeyParty): UsageSum {
    const name = `${credential} ${keyId ?? ''}`;
    const known = this.parties.get(name);
    if (known !== undefined) return known[1];
    const sum = new UsageSum();
    this.parties.set(name, [{ credential, keyId, keyPrefix }, sum]);
    return sum;
  }
}
