import { Injectable, Optional, type OnApplicationBootstrap } from '@nestjs/common';
import { ExtensionPoint, Extensions } from '../../platform/common/extensions/extensions.js';
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
