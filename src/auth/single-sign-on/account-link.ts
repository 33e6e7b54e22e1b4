import { Inject, Injectable } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import type { AccountIdentity } from '../../accounts/identities/identity-statements.js';
import { IdentitiesService } from '../../accounts/identities/identities.service.js';
import { hasPassword } from '../../accounts/passwords/password-hashing.js';
import { withoutTrailingSlashes } from '../../platform/common/text/cut-text.js';
import { CONFIG, type Config } from '../../platform/config/config.js';

/** How an account can be signed in to. */
export interface SignInWays {
  readonly hasPassword: boolean;
  /** The person at the configured issuer to whom the account is linked. */
  readonly identity: Pick<AccountIdentity, 'issuer' | 'email'> | undefined;
}

/** The link between an account and a person at the configured issuer. */
@Injectable()
export class AccountLink {
  constructor(
    private readonly accounts: AccountsService,
    private readonly identities: IdentitiesService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async waysOf(accountId: string): Promise<SignInWays> {
    const [account, identity] = await Promise.all([this.accounts.findById(accountId), this.identityOf(accountId)]);
    // The page of an account that was deleted just now stays as it was.
    const hasOwn = account === undefined || hasPassword(account);
    return { hasPassword: this.config.passwords === 'on' && hasOwn, identity };
  }

  /**
   * Removes the link. An account without a password keeps its link, because its owner could not sign in.
   *
   * @returns whether a link was removed.
   */
  async remove(accountId: string): Promise<boolean> {
    const identity = this.config.passwords === 'on' ? await this.identityOf(accountId) : undefined;
    return identity !== undefined && this.identities.unlink(accountId, identity.issuer);
  }

  private async identityOf(accountId: string): Promise<AccountIdentity | undefined> {
    const { singleSignOn } = this.config;
    if (singleSignOn === undefined) return undefined;
    const identities = await this.identities.identitiesOf(accountId);
    const issuer = withoutTrailingSlashes(singleSignOn.issuer);
    return identities.find((identity) => withoutTrailingSlashes(identity.issuer) === issuer);
  }
}
