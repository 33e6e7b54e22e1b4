import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { idleSince } from './session-lifetime.js';
import { Session } from './session.entity.js';
import { ValidityWatch } from './validity-watch.js';

/** Watches sessions. */
@Injectable()
export class SessionWatch extends ValidityWatch {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    super();
  }

  protected override async validOf(sessionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const now = this.now();
    const sessions = await this.sessions.find({
      select: { id: true },
      where: { id: In(sessionIds), expiresAt: MoreThan(new Date(now)), lastSeenAt: MoreThan(idleSince(now)) },
    });
    return new Set(sessions.map(({ id }) => id));
  }
}
