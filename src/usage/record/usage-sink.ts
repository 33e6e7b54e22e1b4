import type { UsageRecord } from './usage-record.js';

/**
 * Is told of every finished stream, at once and in this process: billing, audit, metrics. The ledger in the database is kept
 * apart from it, and written whatever a sink does. Registered in `AppModule.register({ usageSinks: [...] })`.
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
  /** Must return soon: a promise is not waited for. What it throws, or rejects with, is logged. */
  record(record: UsageRecord): void | Promise<void>;
}

/** Injection token of all sinks. */
export const USAGE_SINKS = Symbol('USAGE_SINKS');
