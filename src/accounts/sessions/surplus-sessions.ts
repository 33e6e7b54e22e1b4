import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Not, Repository } from 'typeorm';
import { Session } from './session.entity.js';

/** How many sessions an account may have. */
const MAX_SESSIONS = 100;
/** More than this are left to the next sign-in. */
const MOST_AT_ONCE = 1000;

/** Finds the sessions of an account above the number that it may have. */
@Injectable()
export class SurplusSessions {
  constructor(@InjectRepository(Session) private readonly sessions: Repository<Session>) {}

  /**
   * The sessions that have to end: those that were used least recently.
   *
   * @param newest the id of the session that was made just now, which stays.
   */
  async of(accountId: string, newest: string): Promise<string[]> {
    const surplus = await this.sessions.find({
      select: { id: true },
      where: { accountId, id: Not(newest) },
      order: { lastSeenAt: 'DESC', createdAt: 'DESC' },
      skip: MAX_SESSIONS - 1,
      take: MOST_AT_ONCE,
    });
    return surplus.map(({ id }) => id);
  }
}
