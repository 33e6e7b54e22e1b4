import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Retention, ROWS_PER_DELETION } from '../../common/timers/retention.js';
import { DAY_MS } from '../../common/utc-day.js';
import { CONFIG, type Config } from '../../config/config.js';
import { AuditLog } from './audit-log.js';

const FIRST_DELETION_AFTER_MS = 90_000;

/** Writes which configuration is in use, and deletes entries that are older than AUDIT_RETENTION_DAYS. */
@Injectable()
export class AuditRounds implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('AuditLog');
  private retention: Retention | undefined;

  constructor(
    private readonly log: AuditLog,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { auditRetentionDays } = this.config;
    if (auditRetentionDays !== undefined) {
      const deletePortion = () => this.deletePortion(auditRetentionDays);
      this.retention = new Retention('audit entries', deletePortion, this.logger);
      this.retention.start(FIRST_DELETION_AFTER_MS);
    }
    await this.recordConfiguration();
  }

  onApplicationShutdown(): void {
    void this.retention?.stop();
  }

  /** Writes an entry if the configuration has changed. A failure is logged, because the service works without the entry. */
  async recordConfiguration(): Promise<void> {
    try {
      const { catalogHash } = this.config;
      await this.log.configurationLoaded(catalogHash === '' ? 'built-in' : catalogHash, new Date(this.now()));
    } catch (error) {
      this.logger.warn({ msg: 'The audit log has no entry for this configuration', reason: String(error) });
    }
  }

  private async deletePortion(days: number): Promise<boolean> {
    const oldest = new Date(this.now() - days * DAY_MS);
    return (await this.log.deleteBefore(oldest, ROWS_PER_DELETION)) === ROWS_PER_DELETION;
  }
}
