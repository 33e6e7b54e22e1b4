import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Retention, ROWS_PER_DELETION } from '../../common/timers/retention.js';
import { DAY_MS } from '../../common/utc-day.js';
import { CONFIG, type Config } from '../../config/config.js';
import { UsageStore } from '../store/usage-store.js';

const FIRST_DELETION_AFTER_MS = 60_000;

/** Deletes usage records that are older than USAGE_RETENTION_DAYS. The daily sums stay, so the reports do not change. */
@Injectable()
export class RecordRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RecordRetention.name);
  private retention: Retention | undefined;

  constructor(
    private readonly store: UsageStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'usageRetentionDays'>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onApplicationBootstrap(): void {
    const { usageRetentionDays } = this.config;
    if (usageRetentionDays !== undefined) {
      const deletePortion = async () => (await this.deletePortion(usageRetentionDays)) === ROWS_PER_DELETION;
      this.retention = new Retention('usage records', deletePortion, this.logger);
      this.retention.start(FIRST_DELETION_AFTER_MS);
    }
  }

  onApplicationShutdown(): void {
    void this.retention?.stop();
  }

  /** Deletes one portion of the old records. Returns the number of deleted records. */
  async deletePortion(days: number): Promise<number> {
    return (await this.store.deleteBefore?.(this.now() - days * DAY_MS, ROWS_PER_DELETION)) ?? 0;
  }
}
