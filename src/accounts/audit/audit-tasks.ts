import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { AuditLog } from './audit-log.js';

/** Writes which configuration is in use, and deletes entries that are older than AUDIT_RETENTION_DAYS. */
@Injectable()
export class AuditTasks implements OnApplicationBootstrap {
  private readonly logger = new Logger('AuditLog');

  constructor(
    private readonly log: AuditLog,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    const { auditRetentionDays: days } = config;
    if (days !== undefined)
      jobs.add('Deletes old audit entries', () => log.deleteBefore(new Date(now() - days * DAY_MS)));
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.recordConfiguration();
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
}
