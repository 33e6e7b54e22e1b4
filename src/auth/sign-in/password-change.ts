import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountsService, type ChangedPassword } from '../../accounts/accounts/accounts.service.js';
import type { NewSession, VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { sitePrefixOf } from '../network/client-network.js';
import { SessionStart } from '../session/session-cookie.js';
import { unauthenticated } from '../bearer/bearer-header.js';
import { SignInLimits, type SignInAttempt } from './sign-in-limits.js';

export interface Passwords {
  readonly current: string;
  readonly next: string;
  /** Whether all active API keys of the account are revoked, too. */
  readonly revokeKeys?: boolean | undefined;
}

/** The new session of the browser, and the number of revoked API keys. */
interface PasswordChanged extends NewSession {
  readonly revokedKeys: number;
}

/** Changes the password of a user who is signed in. */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly accounts: AccountsService,
    private readonly starts: SessionStart,
    private readonly limits: SignInLimits,
  ) {}

  /**
   * Changes the password, ends all sessions of the account and begins a new one. The current session ends too, because a
   * stolen token may be the reason for the change. The limits of sign-in apply, so a stranger at a signed-in browser cannot
   * guess the password here any faster than by signing in.
   *
   * @param address `request.ip`.
   * @returns the new session. The caller sets its cookie.
   * @throws {ServiceError} `invalid_request` for `current_password` or `new_password`, `rate_limit_exceeded`, `unavailable`;
   * `unauthenticated` when another request has changed the password again meanwhile.
   */
  async change({ account }: VerifiedSession, passwords: Passwords, address?: string): Promise<PasswordChanged> {
    const attempt = await this.limits.attempt(address, account.email);
    const changed = await this.replace(account.id, passwords, address, attempt);
    await attempt.succeeded();
    const session = await this.beginSession(changed.account, address);
    return { ...session, revokedKeys: changed.revokedKeys };
  }

  private async replace(
    accountId: string,
    { current, next, revokeKeys }: Passwords,
    address: string | undefined,
    attempt: SignInAttempt,
  ): Promise<ChangedPassword> {
    try {
      const options = { network: sitePrefixOf(address), source: address, revokeKeys };
      return await this.accounts.changePassword(accountId, current, next, options);
    } catch (error) {
      if (isWrongGuess(error)) await attempt.failed();
      else await attempt.withdrawn();
      throw error;
    }
  }

  private async beginSession(account: Account, address: string | undefined): Promise<NewSession> {
    let session: NewSession | undefined;
    try {
      session = await this.starts.begin(account, undefined, address);
    } catch (cause) {
      throw new ServiceError('unavailable', 'Your password was changed. Sign in with the new password.', { cause });
    }
    if (session !== undefined) return session;
    throw unauthenticated('The password was also changed elsewhere. Sign in again.');
  }
}

function isWrongGuess(error: unknown): boolean {
  return error instanceof ServiceError && error.details?.some(({ field }) => field === 'current_password') === true;
}
