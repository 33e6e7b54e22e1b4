import { Inject, Injectable } from '@nestjs/common';
import { normalizeEmail, type Account } from '../../accounts/account/account.entity.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import type { NewSession } from '../../accounts/sessions/sessions.service.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { sitePrefixOf } from '../network/client-network.js';
import { SessionStart } from '../session/session-cookie.js';
import { unauthenticated } from '../bearer/bearer-header.js';
import { SignInLimits } from './sign-in-limits.js';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The browser that signs in or signs up. */
export interface Visitor {
  /** `request.ip`. */
  readonly address: string | undefined;
  /** The current session of the browser. The new session replaces it. */
  readonly sessionId: string | undefined;
}

/** Signs users in and up. Each sign-in or sign-up begins a new session and never reuses an existing token. */
@Injectable()
export class SignIn {
  constructor(
    private readonly accounts: AccountsService,
    private readonly starts: SessionStart,
    private readonly limits: SignInLimits,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Signs a user in. The answer and the work are the same for an unknown address and for a wrong password.
   *
   * @throws {ServiceError} `unauthenticated`, `rate_limit_exceeded`, `unavailable`
   */
  async signIn({ email, password }: Credentials, visitor: Visitor): Promise<NewSession> {
    const attempt = await this.limits.attempt(visitor.address, normalizeEmail(email));
    try {
      const account = await this.accounts.verifyPassword(email, password, { network: sitePrefixOf(visitor.address) });
      if (account !== undefined) {
        const session = await this.begin(account, visitor);
        await attempt.succeeded();
        return session;
      }
    } catch (error) {
      await attempt.withdrawn();
      throw error;
    }
    await attempt.failed();
    throw wrongCredentials();
  }

  /**
   * Creates an account and begins its first session.
   *
   * @throws {ServiceError} `forbidden` when sign-up is closed, `invalid_request`, `rate_limit_exceeded`, `unavailable`
   */
  async signUp(credentials: Credentials, visitor: Visitor): Promise<NewSession> {
    if (this.config.signUp === 'closed') {
      throw new ServiceError('forbidden', 'Sign-up is closed. Ask the operator of this service for an account.');
    }
    const attempt = await this.limits.signUp(visitor.address, normalizeEmail(credentials.email));
    const { address } = visitor;
    const account = await this.accounts.create(credentials, { network: sitePrefixOf(address), source: address });
    await attempt.succeeded();
    return this.begin(account, visitor);
  }

  private async begin(account: Account, { sessionId, address }: Visitor): Promise<NewSession> {
    const session = await this.starts.begin(account, undefined, address, sessionId);
    if (session === undefined) throw wrongCredentials();
    return session;
  }
}

function wrongCredentials(): ServiceError {
  return unauthenticated('The email or the password is incorrect.');
}
