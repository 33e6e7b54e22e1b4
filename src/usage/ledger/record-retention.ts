import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CONFIG, type Config } from '../../config/config.js';
import { UsageStore } from '../store/usage-store.js';

const DAY_MS = 86_400_000;
const FIRST_ROUND_AFTER_MS = 60_000;
const ROUND_EVERY_MS = 3_600_000;
/** Small, because SQLite blocks the event loop while it deletes. */
const RECORDS_PER_STATEMENT = 500;
const PAUSE_MS = 50;

/**
 * Deletes usage records that are older than USAGE_RETENTION_DAYS, once an hour and in small portions. The daily sums stay, so
 * the reports do not change. Several replicas may delete at the same time.
 */
@Injectable()
export class RecordRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RecordRetention.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: UsageStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'usageRetentionDays'>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onApplicationBootstrap(): void {
    const { usageRetentionDays } = this.config;
    if (usageRetentionDays !== undefined) this.runAfter(FIRST_ROUND_AFTER_MS, usageRetentionDays);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Deletes one portion of the old records. Returns the number of deleted records. */
  async deletePortion(days: number): Promise<number> {
    return (await this.store.deleteBefore?.(this.now() - days * DAY_MS, RECORDS_PER_STATEMENT)) ?? 0;
  }

  private runAfter(delayMs: number, days: number): void {
    this.timer = setTimeout(() => void this.run(days), delayMs).unref();
  }

  private async run(days: number): Promise<void> {
    let next = ROUND_EVERY_MS;
    try {
      if ((await this.deletePortion(days)) === RECORDS_PER_STATEMENT) next = PAUSE_MS;
    } catch (error) {
      this.logger.warn({
        msg: 'Old usage records cannot be deleted. The service tries again in an hour',
        reason: String(error),
      });
    }
    // The service may have stopped meanwhile.
    if (this.timer !== undefined) this.runAfter(next, days);
  }
}
