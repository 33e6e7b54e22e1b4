import { Inject, Injectable } from '@nestjs/common';
import { In, IsNull, MoreThan } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { ValidityWatch } from '../credentials/validity-watch.js';
import { idleSince } from './session-lifetime.js';
import { Session } from './session.entity.js';

/** Watches sessions for their end: deletion, lifetime and idle time. */
@Injectable()
export class SessionWatch extends ValidityWatch {
  constructor(
    private readonly database: CredentialDatabase,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    super();
  }

  protected override async validOf(sessionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const now = this.now();
    const sessions = await this.database.repository(Session).find({
      select: { id: true },
      where: {
        id: In(sessionIds),
        expiresAt: MoreThan(new Date(now)),
        lastSeenAt: MoreThan(idleSince(now)),
        account: { disabledAt: IsNull() },
      },
    });
    return new Set(sessions.map(({ id }) => id));
  }
}
