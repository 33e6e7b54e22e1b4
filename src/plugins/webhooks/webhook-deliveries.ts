import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Clock, CLOCK, DAY_MS } from '../../plugin-api/core/common.js';
import type { ListedDelivery } from '../../plugin-api/webhook-log.js';
import type { WebhookEventType } from '../../plugin-api/core/config.js';
import {
  deletePortion,
  engineOf,
  orUnavailable,
  pageByTime,
  queryRows,
  type TimePage,
  type TimePosition,
} from '../../plugin-api/core/database.js';
import { giveUpAt } from '../../plugin-api/core/outbox.js';

/** An event for one webhook that this process sends now. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly type: WebhookEventType;
  readonly account_id: string;
  readonly key_id: string | null;
  /** JSON. */
  readonly data: string;
  readonly created_at: string;
  /** Including the attempt that begins. */
  readonly attempts: number;
  readonly give_up_at: string;
  /** `null`: the account is deleted, or there is none. */
  readonly email: string | null;
  /** `null`: the key is deleted, or the event has none. */
  readonly key_name: string | null;
  readonly key_prefix: string | null;
}

type DeliveryPage = TimePage<ListedDelivery>;

const LISTED =
  'id, event_id, webhook, type, account_id, created_at, attempts, next_attempt_at, last_attempt_at, last_error, delivered_at';
/** Of an API key or an operator key. */
const ofKey = (column: string): string =>
  `COALESCE((SELECT ${column} FROM api_keys WHERE id = key_id), (SELECT ${column} FROM operator_keys WHERE id = key_id))`;
/** The email address and the name of the key are read when the event is sent, so that they go with the account. */
const CLAIMED = `id, event_id, type, account_id, key_id, data, created_at, attempts, give_up_at,
  (SELECT email FROM accounts WHERE accounts.id = account_id) AS email,
  ${ofKey('name')} AS key_name, ${ofKey('prefix')} AS key_prefix`;

/** Longer than an attempt. If the process is killed, another replica repeats the attempt after this time. */
const LEASE_MS = 30_000;
/** Longer than the longest period of a budget: the rows make sure that an event is published once. */
const KEPT_FOR_MS = 40 * DAY_MS;

/** The table of deliveries. */
@Injectable()
export class WebhookDeliveries {
  constructor(
    private readonly database: DataSource,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Takes due deliveries of a webhook. No other process takes them for 30 seconds. */
  async claim(webhook: string, limit: number): Promise<readonly ClaimedDelivery[]> {
    const lock = engineOf(this.database) === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
    const now = this.now();
    return queryRows<ClaimedDelivery>(
      this.database,
      `UPDATE webhook_deliveries SET attempts = attempts + 1, last_attempt_at = :now, next_attempt_at = :until
        WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook = :webhook AND next_attempt_at <= :now
          ORDER BY next_attempt_at LIMIT ${limit}${lock}) RETURNING ${CLAIMED}`,
      { webhook, now: iso(now), until: iso(now + LEASE_MS) },
    );
  }

  async delivered(id: string): Promise<void> {
    const sql = `UPDATE webhook_deliveries SET delivered_at = :now, next_attempt_at = NULL, last_error = NULL WHERE id = :id`;
    await queryRows(this.database, sql, { id, now: iso(this.now()) });
  }

  /** @param retryAfterMs the time to the next attempt. `undefined`: there is none. */
  async failed(id: string, reason: string, retryAfterMs: number | undefined): Promise<void> {
    const next = retryAfterMs === undefined ? null : iso(this.now() + retryAfterMs);
    const sql = 'UPDATE webhook_deliveries SET last_error = :reason, next_attempt_at = :next WHERE id = :id';
    await queryRows(this.database, sql, { id, reason, next });
  }

  /** Makes a delivery due again, as if it were new. Returns whether the delivery exists. */
  async sendAgain(id: string): Promise<boolean> {
    const now = this.now();
    const sql = `UPDATE webhook_deliveries
      SET attempts = 0, delivered_at = NULL, next_attempt_at = :now, give_up_at = :end WHERE id = :id RETURNING id`;
    const changed = await orUnavailable(queryRows(this.database, sql, { id, now: iso(now), end: giveUpAt(now) }));
    return changed.length > 0;
  }

  /** Lists one page, the latest event first. */
  list(after: TimePosition | undefined, limit: number): Promise<DeliveryPage> {
    const list = { table: 'webhook_deliveries', columns: LISTED, timeColumn: 'created_at', scope: [], filter: [] };
    return pageByTime<ListedDelivery>(this.database, list, after, limit);
  }

  /** Deletes a portion of the old rows. Returns whether there may be more. */
  deleteOld(): Promise<boolean> {
    const oldest = iso(this.now() - KEPT_FOR_MS);
    return deletePortion(this.database, 'webhook_deliveries', 'created_at < :oldest ORDER BY created_at, id', {
      oldest,
    });
  }
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
