import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import type { NewSession, VerifiedSession } from '../accounts/sessions.service.js';
import { ServiceError } from '../common/service-error.js';
import { CHALLENGE } from './challenge.js';
import { SessionStart } from './session-start.js';
import { SignInLimits } from './sign-in-limits.js';

export interface Passwords {
  readonly current: string;
  readonly next: string;
}

/** Changes the password of who is signed in. */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly accounts: AccountsService,
    private readonly starts: SessionStart,
    private readonly limits: SignInLimits,
  ) {}

  /**
   * Ends all sessions of the account, this one included, as its token may be why the password is changed. Who has found a
   * browser that is signed in cannot guess the password here any faster than by signing in.
   *
   * @param address `request.ip`.
   * @returns the session in which this browser goes on: set its cookie.
   * @throws {ServiceError} `invalid_request` for `current_password` or `new_password`, `rate_limit_exceeded`, `unavailable`
   */
  async change({ account }: VerifiedSession, { current, next }: Passwords, address?: string): Promise<NewSession> {
    const attempt = await this.limits.attempt(address, account.email);
    try {
      const changed = await this.accounts.changePassword(account.id, current, next);
      const session = await this.starts.begin(changed);
      if (session !== undefined) {
        await attempt.succeeded();
        return session;
      }
    } catch (error) {
      if (!isWrongGuess(error)) await attempt.withdrawn();
      throw error;
    }
    throw new ServiceError('unauthenticated', 'The password was changed elsewhere, too. Sign in again.', {
      headers: { 'WWW-Authenticate': CHALLENGE },
    });
  }
}

function isWrongGuess(error: unknown): boolean {
  return error instanceof ServiceError && error.details?.some(({ field }) => field === 'current_password') === true;
}
