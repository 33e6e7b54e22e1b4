import { Injectable, Optional, type OnApplicationBootstrap, Inject, Logger } from '@nestjs/common';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { ExtensionPoint, Extensions } from '../../platform/common/extensions/extensions.js';
import { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { OutboxDelivery } from '../../platform/outbox/outbox-delivery.js';
import { AuditLog, type AuditEntry } from './audit-log.js';

/**
 * Receives every entry of the audit log at least once, also after a restart: for a SIEM or an archive, for example.
 *
 * Of all replicas, one delivers. A new sink gets the whole log, oldest entries first. An entry can come again, for example after a
 * restart, so a receiver recognizes entries by their `id`. Entries that AUDIT_RETENTION_DAYS has deleted are lost for a sink that
 * fails for so long.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * export class SiemSink implements AuditSink {
 *   readonly name = 'siem';
 *   async deliver(entries: readonly AuditEntry[]): Promise<void> {
 *     await siem.send(entries);
 *   }
 * }
 * ```
 */
export interface AuditSink {
  /** The name under which the database keeps what was not delivered yet. Unique, and the same after each start. */
  readonly name: string;
  /**
   * Receives at most 200 entries, oldest first. They count as delivered when the promise resolves. When it rejects, they are
   * delivered again later.
   *
   * @param signal aborts after 30 s, and when the process stops.
   */
  deliver(entries: readonly AuditEntry[], signal: AbortSignal): Promise<void>;
}

/** The sinks of plugins. */
export const AUDIT_SINKS = new ExtensionPoint<AuditSink>('auditSinks');

/** Delivers the entries of the audit log to the sinks of plugins. */
@Injectable()
export class AuditSinks implements OnApplicationBootstrap {
  constructor(
    private readonly log: AuditLog,
    private readonly outbox: OutboxDelivery,
    /** The commands of operators have no extensions. */
    @Optional() private readonly extensions?: Extensions,
  ) {}

  /** @throws {ConfigError} when the name of a sink is invalid or repeated. */
  async onApplicationBootstrap(): Promise<void> {
    const sinks = this.extensions?.of(AUDIT_SINKS) ?? [];
    if (sinks.length > 0) await this.outbox.begin(this.log.delivered, sinks);
  }
}

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
