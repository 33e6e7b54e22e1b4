import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import type { AuditEntry } from './audit-log.js';

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
  /** The name under which the database keeps the position of the sink. Unique, and the same after each start. */
  readonly name: string;
  /**
   * Receives at most 200 entries, oldest first. They count as delivered when the promise resolves. When it rejects, they are
   * delivered again later.
   */
  deliver(entries: readonly AuditEntry[]): Promise<void>;
}

/** The sinks of plugins. */
export const AUDIT_SINKS = new ExtensionPoint<AuditSink>('auditSinks');
