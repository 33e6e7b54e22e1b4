import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Not, Repository } from 'typeorm';
import { Session } from './session.entity.js';

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
