import { ExtensionPoint } from '../../common/extensions/extension-point.js';

import type { UsageRecord } from './usage-record.js';

/**
 * Receives the record of each finished stream, immediately and in the same process: for billing, audit or metrics, for
 * example. The ledger in the database is independent: it is written even if a sink fails. A sink is best effort: it gets no records of
 * killed processes. Use a `UsageFeed` for what may lose nothing. A sink that collects records sends the last ones in
 * `onApplicationShutdown`, for which Nest waits: no stream ends after that.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * export class AuditSink implements UsageSink {
 *   record({ accountId, model, outcome }: UsageRecord): void {
 *     audit.push({ accountId, model, outcome });
 *   }
 * }
 * ```
 */
export interface UsageSink {
  /** Receives one record. Must return quickly. The ledger does not wait for a promise, but the shutdown does, for up to 5 s. Errors are
   * logged. */
  record(record: UsageRecord): void | Promise<void>;
}

/** The sinks of plugins. */
export const USAGE_SINKS = new ExtensionPoint<UsageSink>('usageSinks');
