import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { SessionsService, type NewSession, type SessionOrigin } from '../../accounts/sessions/sessions.service.js';
import './request-session.js';
import { SessionCookie } from './session-cookie.js';

/**
 * Begins the session of an account whose owner was just recognized, by a password, by an issuer or by a plugin.
 *
 * @since 1.0
 */
@Injectable()
export class SessionStart {
  constructor(
    private readonly accounts: AccountsService,
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  /**
   * Signs the owner of an account in, in the browser that has sent the request. A session that the browser has ends.
   *
   * @throws {ServiceError} `forbidden` when the account is disabled.
   */
  async signIn(account: Account, response: Response): Promise<void> {
    const { ip: source, context } = response.req;
    const session = await this.begin(account, undefined, source, context.session?.sessionId);
    if (session === undefined) throw new ServiceError('forbidden', 'This account cannot sign in.');
    this.cookie.set(response, session.token, session.expiresAt);
  }

  /**
   * @param account the account as it was when its owner was recognized.
   * @param origin the sign-in at an issuer.
   * @param source the address of the browser, for the audit log.
   * @param replaced the session that the browser has, which ends.
   * @returns `undefined` when the password has changed or the account was disabled meanwhile. Both end only the sessions
   * that exist at that time, so this method ends the new session itself.
   */
  async begin(
    { id, passwordHash }: Account,
    origin?: SessionOrigin,
    source?: string,
    replaced?: string,
  ): Promise<NewSession | undefined> {
    const session = await this.sessions.create(id, origin, source);
    const current = await this.accounts.findById(id);
    if (current?.passwordHash !== passwordHash || current.disabledAt !== null) {
      await this.sessions.end(session.sessionId);
      return undefined;
    }
    if (replaced !== undefined) await this.sessions.end(replaced, { actor: `account:${id}`, source });
    return session;
  }
}
