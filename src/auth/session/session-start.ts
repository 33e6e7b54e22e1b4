import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/accounts/account.entity.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { SessionsService, type NewSession } from '../../accounts/sessions/sessions.service.js';

/** Begins the session of who has just shown a password. */
@Injectable()
export class SessionStart {
  constructor(
    private readonly accounts: AccountsService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * @param account as it was when the password was looked at.
   * @returns `undefined` when the password has changed meanwhile. A change ends the sessions that are there: this one may
   * have come too late for that.
   */
  async begin({ id, passwordHash }: Account): Promise<NewSession | undefined> {
    const session = await this.sessions.create(id);
    const current = await this.accounts.findById(id);
    if (current?.passwordHash === passwordHash) return session;
    await this.sessions.end(session.sessionId);
    return undefined;
  }
}
