import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { queryRows } from '../../platform/database/queries/statements.js';
import { WebhookOutbox } from '../../platform/outbox/webhook-outbox.js';

const REPORTED_BEFORE_MS = 7 * DAY_MS;
const KEYS_PER_STATEMENT = 100;

interface ExpiringKey {
  readonly id: string;
  readonly account_id: string;
  readonly expires_at: string;
}

/** Reports the API keys that expire within seven days to webhooks, once for each expiry date. Checks once an hour. */
@Injectable()
export class ExpiringKeys {
  constructor(
    private readonly database: DataSource,
    private readonly outbox: WebhookOutbox,
    private readonly availability: DatabaseAvailability,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    jobs.add('Reports the keys that expire soon to webhooks', async (signal) => {
      await this.report(signal);
      return false;
    });
  }

  /** Publishes an event for each key that expires soon. Events that were published before change nothing. */
  async report(signal?: AbortSignal): Promise<void> {
    if (!this.outbox.wants('key.expiring') || this.availability.isUnavailable) return;
    const now = this.now();
    const until = new Date(now + REPORTED_BEFORE_MS).toISOString();
    let after = { expires_at: new Date(now).toISOString(), id: '' };
    while (signal?.aborted !== true) {
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
