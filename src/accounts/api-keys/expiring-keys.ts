import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { hourly } from '../../common/timers/rounds.js';
import { DAY_MS } from '../../common/utc-day.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { queryRows } from '../../database/queries/statements.js';
import { WebhookOutbox } from '../../webhooks/outbox/webhook-outbox.js';

const FIRST_ROUND_AFTER_MS = 15_000;
const REPORTED_BEFORE_MS = 7 * DAY_MS;
const KEYS_PER_STATEMENT = 100;

interface ExpiringKey {
  readonly id: string;
  readonly account_id: string;
  readonly expires_at: string;
}

/** Reports the API keys that expire within seven days to webhooks, once for each expiry date. Checks once an hour. */
@Injectable()
export class ExpiringKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly rounds = hourly(
    () => this.report(),
    new Logger('ExpiringKeys'),
    'Expiring keys cannot be reported. The service tries again in an hour',
  );

  constructor(
    private readonly database: DataSource,
    private readonly outbox: WebhookOutbox,
    private readonly presence: DatabasePresence,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds.start(FIRST_ROUND_AFTER_MS);
  }

  onApplicationShutdown(): void {
    void this.rounds.stop();
  }

  /** Publishes an event for each key that expires soon. Events that were published before change nothing. */
  async report(): Promise<void> {
    if (!this.outbox.wants('key.expiring') || this.presence.isUnavailable) return;
    const now = this.now();
    const until = new Date(now + REPORTED_BEFORE_MS).toISOString();
    let after = { expires_at: new Date(now).toISOString(), id: '' };
    for (;;) {
      const keys = await this.next(after, until);
      for (const { id, account_id: accountId, expires_at: expiresAt } of keys) {
        const data = { expires_at: expiresAt };
        await this.outbox.publish({ type: 'key.expiring', subject: [id, expiresAt], accountId, keyId: id, data });
      }
      const last = keys.at(-1);
      if (last === undefined || keys.length < KEYS_PER_STATEMENT) return;
      after = last;
    }
  }

  private next({ expires_at: time, id }: Omit<ExpiringKey, 'account_id'>, until: string): Promise<ExpiringKey[]> {
    return queryRows<ExpiringKey>(
      this.database,
      `SELECT id, account_id, expires_at FROM api_keys
        WHERE (expires_at, id) > (:time, :id) AND expires_at <= :until AND revoked_at IS NULL
        ORDER BY expires_at, id LIMIT ${KEYS_PER_STATEMENT}`,
      { time, id, until },
    );
  }
}
