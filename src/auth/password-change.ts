import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import type { VerifiedSession } from '../accounts/sessions.service.js';
import { ServiceError } from '../common/service-error.js';
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
    private readonly limits: SignInLimits,
  ) {}

  /**
   * Ends all other sessions of the account. Who has found a browser that is signed in cannot guess the password here any
   * faster than by signing in.
   *
   * @param address `request.ip`.
   * @throws {ServiceError} `invalid_request` for `current_password` or `new_password`, `rate_limit_exceeded`, `unavailable`
   */
  async change({ sessionId, account }: VerifiedSession, passwords: Passwords, address?: string): Promise<void> {
    const attempt = await this.limits.attempt(address, account.email);
    try {
      await this.accounts.changePassword(account.id, passwords.current, passwords.next, sessionId);
    } catch (error) {
      if (!isWrongGuess(error)) await attempt.withdrawn();
      throw error;
    }
    await attempt.succeeded();
  }
}

function isWrongGuess(error: unknown): boolean {
  return error instanceof ServiceError && error.details?.some(({ field }) => field === 'current_password') === true;
}
