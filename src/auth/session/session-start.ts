import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { SessionsService, type NewSession, type SessionOrigin } from '../../accounts/sessions/sessions.service.js';

/** Begins the session of an account whose owner was just recognized, by a password or by an issuer. */
@Injectable()
export class SessionStart {
  constructor(
    private readonly accounts: AccountsService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * @param account the account as it was when its owner was recognized.
   * @param origin the sign-in at an issuer.
   * @param source the address of the browser, for the audit log.
   * @returns `undefined` when the password has changed or the account was disabled meanwhile. Both end only the sessions
   * that exist at that time, so this method ends the new session itself.
   */
  async begin({ id, passwordHash }: Account, origin?: SessionOrigin, source?: string): Promise<NewSession | undefined> {
    const session = await this.sessions.create(id, origin, source);
    const current = await this.accounts.findById(id);
    if (current?.passwordHash === passwordHash && current.disabledAt === null) return session;
    await this.sessions.end(session.sessionId);
    return undefined;
  }
}
