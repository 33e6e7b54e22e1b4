import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ROWS_PER_DELETION } from '../../common/timers/retention.js';
import type { WebhookEventType } from '../../config/webhook-events.js';
import { pageByTime, type TimePage, type TimePosition } from '../../database/queries/page-by-time.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { engineOf, marks, rowsOf } from '../../database/queries/statements.js';
import { giveUpAt } from '../outbox/webhook-event.js';

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

/** A delivery as operators see it. Times are texts in ISO 8601. */
export interface ListedDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly webhook: string;
  readonly type: WebhookEventType;
  readonly account_id: string;
  readonly created_at: string;
  readonly attempts: number;
  /** `null`: the event is delivered, or the service has given up. */
  readonly next_attempt_at: string | null;
  readonly last_attempt_at: string | null;
  readonly last_error: string | null;
  readonly delivered_at: string | null;
}

export type DeliveryPage = TimePage<ListedDelivery>;

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
const KEPT_FOR_MS = 40 * 86_400_000;

/** The table of deliveries. */
@Injectable()
export class WebhookDeliveries {
  constructor(
    private readonly database: DataSource,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Takes due deliveries of a webhook. No other process takes them for 30 seconds. */
  async claim(webhook: string, limit: number): Promise<readonly ClaimedDelivery[]> {
    const engine = engineOf(this.database);
    const mark = (n: number): string => marks(engine, 1, n);
    const lock = engine === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
    const [now, until] = [this.now(), this.now() + LEASE_MS].map((time) => new Date(time).toISOString());
    const claimed: unknown = await this.database.query(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, last_attempt_at = ${mark(0)}, next_attempt_at = ${mark(1)}
        WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook = ${mark(2)} AND next_attempt_at <= ${mark(3)}
          ORDER BY next_attempt_at LIMIT ${limit}${lock}) RETURNING ${CLAIMED}`,
      [now, until, webhook, now],
    );
    return rowsOf(claimed) as readonly ClaimedDelivery[];
  }

  async delivered(id: string): Promise<void> {
    const engine = engineOf(this.database);
    await this.database.query(
      `UPDATE webhook_deliveries SET delivered_at = ${marks(engine, 1)}, next_attempt_at = NULL, last_error = NULL
        WHERE id = ${marks(engine, 1, 1)}`,
      [new Date(this.now()).toISOString(), id],
    );
  }

  /** @param retryAfterMs the time to the next attempt. `undefined`: there is none. */
  async failed(id: string, reason: string, retryAfterMs: number | undefined): Promise<void> {
    const engine = engineOf(this.database);
    const next = retryAfterMs === undefined ? null : new Date(this.now() + retryAfterMs).toISOString();
    await this.database.query(
      `UPDATE webhook_deliveries SET last_error = ${marks(engine, 1)}, next_attempt_at = ${marks(engine, 1, 1)}
        WHERE id = ${marks(engine, 1, 2)}`,
      [reason, next, id],
    );
  }

  /** Makes a delivery due again, as if it were new. Returns whether the delivery exists. */
  async sendAgain(id: string): Promise<boolean> {
    const engine = engineOf(this.database);
    const mark = (n: number): string => marks(engine, 1, n);
    const now = this.now();
    const changed: unknown = await orUnavailable(
      this.database.query(
        `UPDATE webhook_deliveries SET attempts = 0, delivered_at = NULL, next_attempt_at = ${mark(0)}, give_up_at = ${mark(1)}
          WHERE id = ${mark(2)} RETURNING id`,
        [new Date(now).toISOString(), giveUpAt(now), id],
      ),
    );
    return rowsOf(changed).length > 0;
  }

  /** Lists one page, the latest event first. */
  list(after: TimePosition | undefined, limit: number): Promise<DeliveryPage> {
    const list = { table: 'webhook_deliveries', columns: LISTED, timeColumn: 'created_at', scope: [], filter: [] };
    return pageByTime<ListedDelivery>(this.database, list, after, limit);
  }

  /** Deletes a portion of the old rows. Returns whether there may be more. */
  async deleteOld(): Promise<boolean> {
    const oldest = new Date(this.now() - KEPT_FOR_MS).toISOString();
    const some = `SELECT id FROM webhook_deliveries WHERE created_at < ${marks(engineOf(this.database), 1)} ORDER BY created_at, id LIMIT ${ROWS_PER_DELETION}`;
    const deleted: unknown = await this.database.query(
      `DELETE FROM webhook_deliveries WHERE id IN (${some}) RETURNING id`,
      [oldest],
    );
    return rowsOf(deleted).length === ROWS_PER_DELETION;
  }
}
