import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { idleSince } from './session-lifetime.js';
import { Session } from './session.entity.js';

const MIN_INTERVAL_MS = 60_000;
const ROWS_PER_STATEMENT = 500;

/** Removes the rows of expired sessions. */
@Injectable()
export class ExpiredSessions {
  private readonly logger = new Logger(ExpiredSessions.name);
  private lastRunAt = -Infinity;
  private removal: Promise<void> = Promise.resolve();

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Schedules a removal, at most once a minute. A running removal finishes first. Called when a session begins. */
  removeSoon(): void {
    if (this.now() - this.lastRunAt < MIN_INTERVAL_MS) return;
    this.lastRunAt = this.now();
    this.removal = this.removal
      .then(() => this.removeAll())
      .catch((error: unknown) => {
        this.logger.warn({ msg: 'Expired sessions cannot be deleted', reason: String(error) });
      });
  }

  private async removeAll(): Promise<void> {
    // An embedded database answers without yielding to the event loop, so other work gets a turn here.
    while ((await this.removeSome()) === ROWS_PER_STATEMENT) await nextTurn();
  }

  /** Removes a bounded number of rows, so that a long statement does not delay other queries. Returns the number removed. */
  private async removeSome(): Promise<number> {
    const some = this.sessions
      .createQueryBuilder('session')
      .select('session.id')
      .where('session.expiresAt <= :now OR session.lastSeenAt <= :idleSince')
      .limit(ROWS_PER_STATEMENT);
    const now = this.now();
    const { affected } = await this.sessions
      .createQueryBuilder()
      .delete()
      .where(`id IN (${some.getQuery()})`, {
        now: new Date(now).toISOString(),
        idleSince: idleSince(now).toISOString(),
      })
      .execute();
    return affected ?? 0;
  }
}
