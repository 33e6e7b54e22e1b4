import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountsService, type PasswordWorkOptions } from '../../accounts/accounts/accounts.service.js';
import { Invitations } from '../../accounts/links/invitations.service.js';
import type { Invitation } from '../../accounts/links/one-time-links.js';
import { hashSecret } from '../../accounts/credentials/secrets.js';
import { PasswordResets } from '../../accounts/links/password-resets.service.js';
import type { NewSession } from '../../accounts/sessions/sessions.service.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { sitePrefixOf } from '../network/client-network.js';
import { SessionStart } from '../session/session-cookie.js';
import type { Visitor } from './sign-in.js';
import { SignInLimits } from './sign-in-limits.js';

/** The paths of the pages that one-time links open. The token follows. */
export const INVITATION_PATH = '/invitation';
export const RESET_PATH = '/reset-password';

/** The account that a link has created or changed, with the first session of the browser. */
export interface LinkResult {
  readonly accountId: string;
  readonly session: NewSession;
}

/** Signs users in by the one-time links of operators: with an invitation, or with a new password. */
@Injectable()
export class LinkSignIn {
  constructor(
    private readonly accounts: AccountsService,
    private readonly invitations: Invitations,
    private readonly resets: PasswordResets,
    private readonly starts: SessionStart,
    private readonly limits: SignInLimits,
  ) {}

  /**
   * Finds an invitation. Does not use it: programs that check the links of messages open them, too.
   *
   * @throws {ServiceError} `not_found` for a link that is not valid; `rate_limit_exceeded` for a network with too many of them.
   */
  async invitation(token: string, address: string | undefined): Promise<Invitation> {
    return this.found(() => this.invitations.find(token), address);
  }

  /** Finds the account whose password a link sets, and does not use the link. Throws the errors of {@link invitation}. */
  async accountOfReset(token: string, address: string | undefined): Promise<Account> {
    return this.found(() => this.resets.find(token), address);
  }

  /**
   * Creates the account of an invitation, also while sign-up is closed, and begins its first session.
   *
   * @throws {ServiceError} the errors of {@link invitation}, and `invalid_request` for the password.
   */
  async accept(token: string, password: string, visitor: Visitor): Promise<LinkResult> {
    const invitation = await this.invitation(token, visitor.address);
    const account = await this.invitations.accept(invitation, password, optionsOf(visitor));
    if (account === undefined) throw invalidLink();
    return this.begin(account, visitor);
  }

  /**
   * Sets the new password of the account of a link, and begins a session. All other sessions end.
   *
   * @throws {ServiceError} the errors of {@link invitation}, and `invalid_request` for the password.
   */
  async reset(token: string, password: string, visitor: Visitor): Promise<LinkResult> {
    const account = await this.accountOfReset(token, visitor.address);
    const options = { ...optionsOf(visitor), hashedLinkToken: hashSecret(token) };
    try {
      const changed = await this.accounts.resetPassword(account, password, options);
      return await this.begin(changed.account, visitor);
    } catch (error) {
      // The link was used, revoked or has expired while the password was hashed.
      if ((await this.resets.find(token)) === undefined) throw invalidLink();
      throw error;
    }
  }

  private async found<T>(find: () => Promise<T | undefined>, address: string | undefined): Promise<T> {
    const attempt = await this.limits.link(address);
    const found = await find();
    if (found === undefined) throw invalidLink();
    await attempt.succeeded();
    return found;
  }

  private async begin(account: Account, { sessionId, address }: Visitor): Promise<LinkResult> {
    const session = await this.starts.begin(account, undefined, address, sessionId);
    if (session === undefined) throw invalidLink();
    return { accountId: account.id, session };
  }
}

function optionsOf({ address }: Visitor): PasswordWorkOptions {
  return { network: sitePrefixOf(address), source: address };
}

function invalidLink(): ServiceError {
  return new ServiceError(
    'not_found',
    'This link is no longer valid. Ask the operator of this service for a new link.',
  );
}
