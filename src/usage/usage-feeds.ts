import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ExtensionPoint, Extensions } from '../platform/common/extensions/extensions.js';
import { OutboxDelivery } from '../platform/outbox/outbox-delivery.js';
import type { DeliveredTable } from '../platform/outbox/outbox-entries.js';
import { ledgerRow, RECORD_COLUMNS, type LedgerRow } from './store/record-columns.js';

/**
 * Receives every record of the ledger at least once, also through restarts, and also the records of killed processes: for a webhook
 * or for billing. The database keeps what was not delivered yet.
 *
 * A record can arrive again, so use its `id` to recognize it. A record with the outcome `interrupted` can arrive again with the real
 * outcome.
 *
 * @experimental
 * @since 1.0
 *
 * @example
 * ```ts
 * export class BillingFeed implements UsageFeed {
 *   readonly name = 'acme-billing';
 *   async deliver(records: readonly LedgerRow[], signal: AbortSignal) {
 *     await billing.add(records, { signal });
 *   }
 * }
 * ```
 */
export interface UsageFeed {
  /** Names what was delivered, for ever: lower-case letters, digits and hyphens. Begin it with the name of the plugin. */
  readonly name: string;
  /**
   * Delivers at most 100 records. One replica at a time calls this method. If it rejects, the same records come again, after 1 s up to
   * 60 s.
   *
   * @param signal aborts after 30 s, and when the process stops.
   */
  deliver(records: readonly LedgerRow[], signal: AbortSignal): Promise<void>;
}

/** The feeds of plugins. */
export const USAGE_FEEDS = new ExtensionPoint<UsageFeed>('usageFeeds');

/** The records that feeds get. */
export const DELIVERED_RECORDS: DeliveredTable<LedgerRow> = {
  name: 'usage_records',
  columns: RECORD_COLUMNS,
  subscribers: {
    kind: 'usage feed',
    names: /^[a-z][a-z0-9-]*$/,
    rule: 'lower-case letters, digits and hyphens, and begin with a letter',
  },
  rowsAtOnce: 100,
  isFromBeginning: false,
  rowsOf: (stored) => stored.map(ledgerRow),
};

/** Delivers the records of the ledger to the feeds of plugins. */
@Injectable()
export class UsageFeeds implements OnApplicationBootstrap {
  constructor(
    private readonly outbox: OutboxDelivery,
    private readonly extensions: Extensions,
  ) {}

  /** @throws {ConfigError} when the name of a feed is invalid or repeated. */
  async onApplicationBootstrap(): Promise<void> {
    const feeds = this.extensions.of(USAGE_FEEDS);
    if (feeds.length > 0) await this.outbox.begin(DELIVERED_RECORDS, feeds);
  }
}
