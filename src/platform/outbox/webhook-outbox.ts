import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DAY_MS } from '../common/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import type { WebhookEventType } from '../config/webhook-of.js';
import { AtomicStatements, type Statement } from '../database/queries/atomic-statements.js';
import { createHash } from 'node:crypto';

/** The account of an event about an operator key, which belongs to no account. */
export const NO_ACCOUNT = '';

/** Something that webhooks report. */
export interface WebhookEvent {
  readonly type: WebhookEventType;
  /** What the event is about. There is one event of each type for each subject, however often the event is published. */
  readonly subject: readonly string[];
  /** Or {@link NO_ACCOUNT}. */
  readonly accountId: string;
  readonly keyId?: string | undefined;
  /** The members of `data` in addition to `account` and `key`. Never a secret. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** How long the service tries to deliver an event. */
const RETRY_FOR_MS = 3 * DAY_MS;

/** Returns the id of the event, which receivers get as `webhook-id`. The same subject has the same id on every replica. */
export function eventIdOf({ type, subject }: WebhookEvent): string {
  const hash = createHash('sha256').update(JSON.stringify([type, ...subject]));
  return `evt_${hash.digest('base64url').slice(0, 32)}`;
}

/** The time after which a delivery that begins at `now` is given up, in ISO 8601. */
export function giveUpAt(now: number): string {
  return new Date(now + RETRY_FOR_MS).toISOString();
}

/**
 * Returns the statement that adds the event for one webhook. It changes nothing if the event exists.
 *
 * @param condition an SQL condition with the parameter `:keyId`. By default, the event is always added.
 */
function insertEvent(event: WebhookEvent, webhook: string, now: number, condition = 'true'): Statement {
  const eventId = eventIdOf(event);
  const { type, accountId, keyId, data } = event;
  return {
    sql: `INSERT INTO webhook_deliveries
        (id, event_id, webhook, type, account_id, key_id, data, created_at, next_attempt_at, give_up_at)
      SELECT :id, :eventId, :webhook, :type, :account, :keyId, :data, :now, :now, :giveUpAt WHERE ${condition}
      ON CONFLICT (id) DO NOTHING RETURNING id`,
    parameters: {
      ...{ id: `${eventId}.${webhook}`, eventId, webhook, type, account: accountId, keyId: keyId ?? null },
      ...{ data: JSON.stringify(data), now: new Date(now).toISOString(), giveUpAt: giveUpAt(now) },
    },
  };
}

/** Stores the events that the service sends to webhooks. Events without a subscribed webhook are not stored. */
@Injectable()
export class WebhookOutbox {
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly database: AtomicStatements,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Whether a webhook has subscribed to the event. */
  wants(type: WebhookEventType): boolean {
    return this.webhooksFor(type).length > 0;
  }

  /**
   * Returns the statements that store the event, for the transaction of the change that the event reports. Call {@link notify}
   * after the transaction.
   *
   * @param condition see {@link insertEvent}.
   */
  statements(event: WebhookEvent, condition?: string): readonly Statement[] {
    return this.webhooksFor(event.type).map(({ name }) => insertEvent(event, name, this.now(), condition));
  }

  /**
   * Stores an event. An event that was published before changes nothing.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async publish(event: WebhookEvent): Promise<void> {
    const statements = this.statements(event);
    if (statements.length === 0) return;
    await this.database.change({ table: 'accounts', id: event.accountId }, statements);
    this.notify();
  }

  /** Adds a function that is called when there may be new events. */
  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Makes this process look for events at once. */
  notify(): void {
    for (const listener of this.listeners) listener();
  }

  private webhooksFor(type: WebhookEventType) {
    return [...this.config.webhooks.values()].filter(({ events }) => events.includes(type));
  }
}
