import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { optionalPart } from '../optional-part.js';
import { lastDays } from '../usage/usage-days.js';
import { UsageSum } from '../usage/usage-sum.js';
import { UsageTotals } from '../usage/usage-totals.js';

/** The sums of the last 30 days by the id of the key. */
export type KeySpend = ReadonlyMap<string, UsageSum>;

/** What each key of an account has spent in the last 30 days. */
@Injectable()
export class KeySpends {
  constructor(
    private readonly reports: UsageReports,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Returns `undefined` when the sums cannot be read, because the list of keys is useful without them. */
  async of(accountId: string): Promise<KeySpend | undefined> {
    const { from, to } = lastDays(30, this.now());
    const totals = await optionalPart(
      new UsageTotals(({ keyId }) => keyId !== null).read(this.reports, accountId, from, to),
    );
    return totals && new Map([...totals.byKey].map(([{ keyId }, sum]) => [keyId ?? '', sum]));
  }
}
