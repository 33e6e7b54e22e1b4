import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, Steps, utcDay, withTimeout } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { UsageReports } from '../../../plugin-api/core/usage.js';
import { insertInto, sumIn, UsageSum } from '../usage/usage-sum.js';
import { lastDays } from '../usage/usage-filter.js';

const HIGHEST = 5;
const FRESH_MS = 60_000;
const TIMEOUT_MS = 1_000;

/** What all accounts together have spent. */
export interface SpendOverview {
  readonly at: Date;
  readonly today: UsageSum;
  readonly last30Days: UsageSum;
  /** The accounts with the highest cost of the last 30 days, highest first. */
  readonly highest: readonly AccountSpend[];
}

interface AccountSpend {
  readonly accountId: string;
  readonly sum: UsageSum;
}

/** The sums take longer than a page can wait. */
class StillRunning extends Error {}

/** Adds up the usage of all accounts, at most once a minute, because it can have many rows. */
@Injectable()
export class ServiceSpend {
  private latest: SpendOverview | undefined;
  private running: Promise<SpendOverview> | undefined;

  constructor(
    private readonly reports: UsageReports,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Returns the sums, which are added up again if they are older than a minute. If this takes too long for a page, it goes on,
   * and the older sums are returned.
   *
   * @returns `undefined` if there are no sums yet.
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async overview(): Promise<SpendOverview | undefined> {
    const { latest } = this;
    if (latest !== undefined && this.now() - latest.at.getTime() < FRESH_MS) return latest;
    this.running ??= this.refresh();
    try {
      return await withTimeout(this.running, TIMEOUT_MS, () => new StillRunning());
    } catch (error) {
      if (error instanceof StillRunning) return latest;
      throw error;
    }
  }

  private async refresh(): Promise<SpendOverview> {
    try {
      return (this.latest = await this.read(this.now()));
    } finally {
      this.running = undefined;
    }
  }

  private async read(now: number): Promise<SpendOverview> {
    const day = utcDay(now);
    const { from, to } = lastDays(30, now);
    const today = new UsageSum();
    const last30Days = new UsageSum();
    const accounts = new Map<string, UsageSum>();
    for await (const rows of this.reports.pages(from, to)) {
      for (const row of rows) {
        sumIn(accounts, row.accountId).addRow(row);
        last30Days.addRow(row);
        if (row.day === day) today.addRow(row);
      }
    }
    return { at: new Date(now), today, last30Days, highest: await this.highestOf(accounts) };
  }

  /** Sorts no more than the highest accounts, because there may be a million accounts. */
  private async highestOf(accounts: ReadonlyMap<string, UsageSum>): Promise<readonly AccountSpend[]> {
    const steps = new Steps();
    const highest: AccountSpend[] = [];
    for (const [accountId, sum] of accounts) {
      insertInto(highest, { accountId, sum }, HIGHEST, (one, other) => this.compare(one.sum, other.sum));
      if (steps.isOver) await steps.next();
    }
    return highest;
  }

  /** By cost in the currency of the configuration. Other currencies cannot be compared. */
  private compare(one: UsageSum, other: UsageSum): number {
    const costOf = ({ costs }: UsageSum) => costs.get(this.config.currency) ?? 0;
    return costOf(one) - costOf(other) || one.requests - other.requests;
  }
}
