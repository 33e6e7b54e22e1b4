import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, DAY_MS, HOUR_MS, startOfDay, utcDay } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import {
  type UsageRow,
  bounded,
  HourSums,
  usagePeriod,
  type UsagePeriod,
  UsageReports,
} from '../../../plugin-api/core/usage.js';
import { hasChosenDays, lastDays, passes, type UsageFilter } from './usage-filter.js';
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
function clientName({ credential, keyId }: Pick<UsageRow, 'credential' | 'keyId'>): string {
  return `${credential} ${keyId ?? ''}`;
}

/** A longer period has a bar for each day. */
const MAX_DAYS_BY_HOUR = 3;

/** The period that a usage page shows. */
export interface ShownPeriod extends UsagePeriod {
  /** What a bar of a chart and a line of the table by time stand for. */
  readonly unit: 'day' | 'hour';
  /** Every day as `YYYY-MM-DD`, or the start of every hour in ISO 8601, oldest first. */
  readonly steps: readonly string[];
}

/** Reads the usage of an account for the pages: by day, or by hour in a short period. */
@Injectable()
export class UsageReader {
  constructor(
    private readonly reports: UsageReports,
    private readonly hours: HourSums,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @throws {ServiceError} `invalid_request` for days that are none, or in the wrong order. */
  periodOf(filter: UsageFilter): ShownPeriod {
    const now = this.now();
    const period = hasChosenDays(filter) ? usagePeriod(filter, now) : lastDays(filter.days, now);
    const byHour = this.hasHours(period);
    const [size, textOf] = byHour ? [HOUR_MS, isoOf] : [DAY_MS, utcDay];
    const count = Math.round((period.to.getTime() - period.from.getTime()) / size);
    const steps = Array.from({ length: count }, (_, index) => textOf(period.from.getTime() + index * size));
    return { ...period, unit: byHour ? 'hour' : 'day', steps };
  }

  /** The rows of the period. Their `day` is a step of the period. */
  rows({ from, to, unit, steps }: ShownPeriod, accountId: string): AsyncIterable<readonly UsageRow[]> {
    return unit === 'hour' ? this.hours.pages(steps, accountId) : this.reports.pages(from, to, accountId);
  }

  /**
   * The rows that the filter shows, for a file.
   *
   * @throws {ServiceError} `invalid_request` when there are too many.
   */
  async *fileRows(
    filter: UsageFilter,
    period: ShownPeriod,
    accountId: string,
  ): AsyncGenerator<readonly UsageRow[], void> {
    for await (const rows of bounded(this.rows(period, accountId))) yield rows.filter((row) => passes(filter, row));
  }

  /** Adds up what the filter shows. */
  async totals(filter: UsageFilter, period: ShownPeriod, accountId: string): Promise<UsageTotals> {
    const seriesOf = filter.by === 'key' ? clientName : ({ model }: UsageRow) => model;
    return new UsageTotals((row) => passes(filter, row), seriesOf).read(this.rows(period, accountId));
  }

  /** Whether the ledger still has the single records of the period. */
  private hasHours({ from, to }: UsagePeriod): boolean {
    if (to.getTime() - from.getTime() > MAX_DAYS_BY_HOUR * DAY_MS) return false;
    const { usageRetentionDays: days } = this.config;
    return days === undefined || from.getTime() > startOfDay(this.now()) - (days - 1) * DAY_MS;
  }
}

function isoOf(moment: number): string {
  return new Date(moment).toISOString();
}
