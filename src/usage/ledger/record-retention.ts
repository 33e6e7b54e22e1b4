import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { earliestId } from '../../platform/common/time-ordered-id.js';
import { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { deletePortion } from '../../platform/database/queries/delete-portion.js';

/** Deletes usage records that are older than USAGE_RETENTION_DAYS. The daily sums stay, so the reports do not change. */
@Injectable()
export class RecordRetention {
  constructor(
    private readonly database: DataSource,
    @Inject(CONFIG) { usageRetentionDays: days }: Pick<Config, 'usageRetentionDays'>,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    if (days !== undefined) jobs.add('Deletes old usage records', () => this.deletePortion(days));
  }

  /** The ids sort by the start of the stream, so the primary key finds the oldest records. */
  private deletePortion(days: number): Promise<boolean> {
    const oldest = this.now() - days * DAY_MS;
    const values = { id: earliestId(oldest), time: new Date(oldest).toISOString() };
    return deletePortion(this.database, 'usage_records', 'id < :id AND started_at < :time ORDER BY id', values);
  }
}
