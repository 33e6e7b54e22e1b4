import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { optionalPart } from '../optional-part.js';
import { lastDays } from '../usage/usage-days.js';
import type { UsageSum } from '../usage/usage-sum.js';
import { UsageTotals } from '../usage/usage-totals.js';

/** What the keys of an account have spent in the last 30 days. */
export interface KeySpend {
  /** Whether any request of a key has a cost. */
  readonly hasCosts: boolean;
  of(keyId: string): UsageSum | undefined;
}

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
    return totals && { hasCosts: totals.total.costs.size > 0, of: (keyId) => totals.sumOfKey(keyId) };
  }
}
