import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  type Account,
  type AccountIdentity,
  AccountRoles,
  AccountsService,
  IdentitiesService,
  isEmail,
  type NamedIdentity,
  normalizeEmail,
} from '../../plugin-api/core/accounts.js';
import { cutText, ServiceError, withoutTrailingSlashes } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { isIssuerId, meets, valuesOf, type Claims } from './issuer.js';

/** The author of the changes that the claims of the issuer make, for the audit log. */
const ISSUER = { actor: 'issuer' } as const;
const SHOWN_TIER_LENGTH = 100;

/** Finds or creates the account of a person whom the issuer has signed in, and applies the claims to the account. */
@Injectable()
export class LinkedAccounts {
  private readonly logger = new Logger('SingleSignOn');

  constructor(
    private readonly identities: IdentitiesService,
    private readonly accounts: AccountsService,
    private readonly roles: AccountRoles,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Returns the account of the person, with the tier and the role that the claims give.
   *
   * @throws {ServiceError} `forbidden` with the reason, if the person has no account here and cannot get one.
   */
  async accountFor(claims: Claims): Promise<Account> {
    const identity = identityOf(claims);
    const known = await this.identities.accountOf(identity);
    // A person who may not use the service any longer must not stay an operator.
    if (known !== undefined && !this.isAllowed(claims)) await this.setRole(known, claims);
    this.expectAllowed(claims);
    const account = known ?? (await this.firstAccountOf(identity, claims));
    if (account.disabledAt !== null) throw new ServiceError('forbidden', 'This account is disabled.');
    if (known !== undefined) await this.identities.touch(identity);
    return this.withClaims(account, claims);
  }

  /**
   * Links the person to an account.
   *
   * @throws {ServiceError} `forbidden` if the person may not sign in; `invalid_request` if one of both is linked already.
   */
  async link(claims: Claims, accountId: string): Promise<void> {
    this.expectAllowed(claims);
    await this.identities.link(identityOf(claims), accountId);
  }

  /** Returns the person at the configured issuer to whom the account is linked. */
  async identityOf(accountId: string): Promise<AccountIdentity | undefined> {
    const { singleSignOn } = this.config;
    if (singleSignOn === undefined) return undefined;
    const identities = await this.identities.identitiesOf(accountId);
    const issuer = withoutTrailingSlashes(singleSignOn.issuer);
    return identities.find((identity) => withoutTrailingSlashes(identity.issuer) === issuer);
  }

  async unlink(accountId: string): Promise<boolean> {
    const identity = this.config.passwords === 'on' ? await this.identityOf(accountId) : undefined;
    return identity !== undefined && this.identities.unlink(accountId, identity.issuer);
  }

  private isAllowed(claims: Claims): boolean {
    const required = this.config.singleSignOn?.requiredClaim;
    return required === undefined || meets(claims, required);
  }

  private expectAllowed(claims: Claims): void {
    if (this.isAllowed(claims)) return;
    throw new ServiceError(
      'forbidden',
      'You may not use this service. Ask its operator, or your administrator, for access.',
    );
  }

  private async firstAccountOf(identity: NamedIdentity, claims: Claims): Promise<Account> {
    const { email } = identity;
    if (email === undefined) {
      throw new ServiceError(
        'forbidden',
        'Your organization did not send your email address, so there is no account for you.',
      );
    }
    const verified = String(claims['email_verified']);
    const existing = await this.accounts.findByEmail(email);
    if (existing !== undefined) {
      // The address comes from `email`: only this claim can be verified.
      const isVerified = verified === 'true' && normalizeEmail(String(claims['email'])) === email;
      if (isVerified && (await this.identities.linkPrepared(identity, existing.id))) return existing;
      return (await this.identities.accountOf(identity)) ?? refuseTakenAddress();
    }
    if (verified === 'false') {
      throw new ServiceError(
        'forbidden',
        'Your email address is not verified. Verify the address at your organization first.',
      );
    }
    const tier = this.tierIn(claims) ?? this.config.defaultTier.name;
    const created = await this.identities.createAccount(identity, { email, tier });
    // The same person can finish two sign-ins at the same time.
    return created ?? (await this.identities.accountOf(identity)) ?? refuseTakenAddress();
  }

  private async withClaims(account: Account, claims: Claims): Promise<Account> {
    const tier = this.tierIn(claims) ?? account.tier;
    if (tier !== account.tier) await this.accounts.setTier({ id: account.id }, tier, ISSUER);
    await this.setRole(account, claims);
    return account;
  }

  private async setRole(account: Account, claims: Claims): Promise<void> {
    const { operatorClaim } = this.config.singleSignOn ?? {};
    if (operatorClaim === undefined) return;
    const role = this.isAllowed(claims) && meets(claims, operatorClaim) ? 'operator' : 'member';
    if (role !== account.role) await this.roles.set({ id: account.id }, role, ISSUER);
  }

  /** Returns the tier that the claims give, or `undefined` if sign-ins do not change the tier. */
  private tierIn(claims: Claims): string | undefined {
    const { singleSignOn, tiers, defaultTier } = this.config;
    if (singleSignOn?.tierClaim === undefined) return undefined;
    const values = valuesOf(claims, singleSignOn.tierClaim);
    const known = values.find((value) => tiers.has(value));
    if (known === undefined && values.length > 0) {
      const tier = cutText(values.join(', '), SHOWN_TIER_LENGTH);
      this.logger.warn({ msg: 'A sign-in has an unknown tier, so the account gets the default tier', tier });
    }
    return known ?? defaultTier.name;
  }
}

/**
 * Returns the person. The address is only a name: accounts are found by issuer and subject.
 *
 * @throws {ServiceError} `forbidden` for a subject that cannot be stored.
 */
function identityOf(claims: Claims): NamedIdentity {
  if (!isIssuerId(claims.sub)) throw new ServiceError('forbidden', 'Your organization sent an invalid id of you.');
  const addresses = [claims['email'], claims['preferred_username']].map((claim) =>
    typeof claim === 'string' ? normalizeEmail(claim) : '',
  );
  return { issuer: claims.iss, subject: claims.sub, email: addresses.find(isEmail) };
}

function refuseTakenAddress(): never {
  throw new ServiceError(
    'forbidden',
    'An account with your email address exists, but is not linked to single sign-on. Sign in with your password, and link the account on its page. If you have no password, ask the operator of this service.',
  );
}
