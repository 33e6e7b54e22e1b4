import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Not, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { idleSince, Session } from './session.entity.js';

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

/** How many sessions an account may have. */
const MAX_SESSIONS = 100;
/** How many surplus sessions end with one sign-in. The next sign-in ends the rest. */
const MAX_AT_ONCE = 1000;

/** Finds the sessions of an account that exceed the maximum. */
@Injectable()
export class SurplusSessions {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  /**
   * Returns the ids of the sessions that must end: the least recently used ones.
   *
   * @param newest the id of the new session, which stays.
   */
  async of(accountId: string, newest: string): Promise<string[]> {
    const surplus = await this.sessions.find({
      select: { id: true },
      where: { accountId, id: Not(newest) },
      order: { lastSeenAt: 'DESC', createdAt: 'DESC' },
      skip: MAX_SESSIONS - 1,
      take: MAX_AT_ONCE,
    });
    return surplus.map(({ id }) => id);
  }
}
