import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { HourlyJobs, ROWS_PER_DELETION } from '../../platform/common/timers/periodic-task.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { UsageStore } from '../store/usage-store.js';

/** Deletes usage records that are older than USAGE_RETENTION_DAYS. The daily sums stay, so the reports do not change. */
@Injectable()
export class RecordRetention {
  constructor(
    private readonly store: UsageStore,
    @Inject(CONFIG) { usageRetentionDays: days }: Pick<Config, 'usageRetentionDays'>,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    if (days === undefined) return;
    jobs.add('Deletes old usage records', async () => (await this.deletePortion(days)) === ROWS_PER_DELETION);
  }

  /** Deletes one portion of the old records. Returns the number of deleted records. */
  deletePortion(days: number): Promise<number> {
    return this.store.deleteBefore(this.now() - days * DAY_MS, ROWS_PER_DELETION);
  }
}
