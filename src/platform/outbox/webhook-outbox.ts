import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../common/clock.js';
import { CONFIG, type Config } from '../config/config.js';
import type { WebhookEventType } from '../config/webhook-of.js';
import { AtomicStatements, type Statement } from '../database/queries/atomic-statements.js';
import { insertEvent, type WebhookEvent } from './webhook-event.js';

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
