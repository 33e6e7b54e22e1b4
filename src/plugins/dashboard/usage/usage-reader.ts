import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, DAY_MS, HOUR_MS, startOfDay, utcDay } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import {
  bounded,
  HourSums,
  usagePeriod,
  type UsagePeriod,
  UsageReports,
  type UsageRow,
} from '../../../plugin-api/core/usage.js';
import { hasChosenDays, lastDays, passes, type UsageFilter } from './usage-filter.js';
import { clientName, UsageTotals } from './usage-totals.js';

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
