import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { lastDays } from '../usage/usage-days.js';
import { UsageSum } from '../usage/usage-sum.js';
import { UsageTotals } from '../usage/usage-totals.js';

/** The sums of the last 30 days by the id of the key. */
export type KeySpend = ReadonlyMap<string, UsageSum>;

/** What each key of an account has spent in the last 30 days. */
@Injectable()
export class KeySpends {
  private readonly logger = new Logger(KeySpends.name);

  constructor(
    private readonly reports: UsageReports,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Returns `undefined` when the sums cannot be read, because the list of keys is useful without them. */
  async of(accountId: string): Promise<KeySpend | undefined> {
    const { from, to } = lastDays(30, this.now());
    try {
      const totals = await new UsageTotals(({ keyId }) => keyId !== null).read(this.reports, accountId, from, to);
      return new Map([...totals.byKey].map(([{ keyId }, sum]) => [keyId ?? '', sum]));
    } catch (error) {
      this.logger.error(error);
      return undefined;
    }
  }
}
