import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError, type ErrorDetail } from '../../common/service-error.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { inChunks } from '../../database/queries/in-chunks.js';
import { isUniqueViolation, orUnavailable } from '../../database/queries/query-failure.js';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { passwordProblem } from '../passwords/password-policy.js';
import { PasswordReplacement } from '../passwords/password-replacement.js';
import { Account } from '../account/account.entity.js';
import { isEmail, normalizeEmail } from '../account/email.js';
import { tierNamed } from '../account/tier.js';

const IDS_PER_QUERY = 500;

/** An email address, or an id. The address of a deleted account can later belong to another account, the id cannot. */
export type AccountReference = string | { readonly id: string };

export interface NewAccount {
  readonly email: string;
  readonly password: string;
  /** By default, the configured default tier. */
  readonly tier?: string | undefined;
}

export interface PasswordWorkOptions {
  /** The network of the client, in the form that `siteOf` returns. Without a network, the work counts as the operator's. */
  readonly network?: string | undefined;
}

export interface PasswordChangeOptions extends PasswordWorkOptions {
  /** Whether all active API keys of the account are revoked, too. */
  readonly revokeKeys?: boolean | undefined;
}

export interface ChangedPassword {
  readonly account: Account;
  /** How many API keys were revoked. */
  readonly revokedKeys: number;
}

/**
 * Creates and finds accounts, and changes their tiers and passwords.
 *
 * @since 1.0
 */
@Injectable()
export class AccountsService {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly passwords: PasswordHashing,
    private readonly replacement: PasswordReplacement,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates an account.
   *
   * @throws {ServiceError} `invalid_request` with the invalid fields, also when another account has the email address.
   */
  async create(
    { email, password, tier = this.config.defaultTier.name }: NewAccount,
    { network }: PasswordWorkOptions = {},
  ): Promise<Account> {
    const normalized = normalizeEmail(email);
    const details = [
      ...emailProblems(normalized),
      ...passwordProblems(password, normalized),
      ...this.tierProblems(tier),
    ];
    if (details.length > 0) throw invalid(details);

    const account = this.accounts.create({
      id: randomUUID(),
      email: normalized,
      passwordHash: await this.passwords.hash(password, network),
      tier,
      role: 'member',
      disabledAt: null,
      createdAt: new Date(this.now()),
    });
    try {
      await orUnavailable(this.accounts.insert(account));
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw invalid([{ field: 'email', message: 'An account with this email already exists.' }]);
    }
    return account;
  }

  /** Returns the account with this address, in any case of its letters, or `undefined`. */
  async findByEmail(email: string): Promise<Account | undefined> {
    const normalized = normalizeEmail(email);
    // No account has an invalid address. PostgreSQL also fails on some invalid texts, such as a text with a NUL character.
    if (!isEmail(normalized)) return undefined;
    return (await orUnavailable(this.accounts.findOneBy({ email: normalized }))) ?? undefined;
  }

  /** Returns the account with this id, or `undefined`. */
  async findById(id: string): Promise<Account | undefined> {
    return (await orUnavailable(this.accounts.findOneBy({ id }))) ?? undefined;
  }

  /** Returns the email addresses by account id. A deleted account has no entry. */
  async emailsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const emails = new Map<string, string>();
    for (const some of inChunks(ids, IDS_PER_QUERY)) {
      const accounts = await orUnavailable(
        this.accounts.find({ select: { id: true, email: true }, where: { id: In(some) } }),
      );
      for (const { id, email } of accounts) emails.set(id, email);
    }
    return emails;
  }

  /** Whether any account exists. */
  async hasAny(): Promise<boolean> {
    return orUnavailable(this.accounts.exists());
  }

  /**
   * Finds an account that must exist.
   *
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async get(reference: AccountReference): Promise<Account> {
    const account = await (typeof reference === 'string' ? this.findByEmail(reference) : this.findById(reference.id));
    if (account !== undefined) return account;
    const name = typeof reference === 'string' ? normalizeEmail(reference) : reference.id;
    throw new ServiceError('not_found', `There is no account "${name}".`);
  }

  /**
   * Changes the tier of the account.
   *
   * @throws {ServiceError} `invalid_request` for an unknown tier, `not_found` for an unknown account.
   */
  async setTier(reference: AccountReference, tier: string): Promise<Account> {
    const details = this.tierProblems(tier);
    if (details.length > 0) throw invalid(details);
    const account = await this.get(reference);
    await orUnavailable(this.accounts.update({ id: account.id }, { tier }));
    return this.accounts.merge(account, { tier });
  }

  /**
   * Returns the account if the password is correct and the account is not disabled. An unknown address and a disabled
   * account take as long as a wrong password.
   */
  async verifyPassword(
    email: string,
    password: string,
    { network }: PasswordWorkOptions = {},
  ): Promise<Account | undefined> {
    const account = await this.findByEmail(email);
    const matches = await this.passwords.verify(account?.passwordHash, password, network);
    return matches && account?.disabledAt === null ? account : undefined;
  }

  /**
   * Changes the password and ends all sessions of the account. The caller's own session ends too, because its token may
   * have been stolen.
   *
   * @throws {ServiceError} `invalid_request` when `current` is wrong or `next` is not acceptable; `not_found` for an unknown
   * account.
   */
  async changePassword(
    accountId: string,
    current: string,
    next: string,
    options: PasswordChangeOptions = {},
  ): Promise<ChangedPassword> {
    const account = await this.findById(accountId);
    if (account === undefined) throw new ServiceError('not_found', 'This account does not exist.');
    const problems = passwordProblems(next, account.email, 'new_password');
    if (problems.length > 0) throw invalid(problems);
    const matches = await this.passwords.verify(account.passwordHash, current, options.network);
    if (!matches) throw wrongCurrentPassword();
    return this.replacePassword(account, next, options);
  }

  /**
   * Sets a new password without the current password, for the operator. Ends all sessions of the account.
   *
   * @throws {ServiceError} `invalid_request` when the password is not acceptable, `not_found` for an unknown account.
   */
  async setPassword(email: string, password: string, options: PasswordChangeOptions = {}): Promise<ChangedPassword> {
    const account = await this.get(email);
    const problems = passwordProblems(password, account.email);
    if (problems.length > 0) throw invalid(problems);
    return this.replacePassword(account, password, options);
  }

  /** Returns the tier of the account. See {@link tierNamed} for a tier that the configuration no longer has. */
  tierOf(account: Pick<Account, 'tier'>): TierConfig {
    return tierNamed(this.config, account.tier);
  }

  /** Fails as for a wrong current password when another request has changed the password meanwhile. */
  private async replacePassword(
    account: Account,
    next: string,
    { network, revokeKeys = false }: PasswordChangeOptions,
  ): Promise<ChangedPassword> {
    const passwordHash = await this.passwords.hash(next, network);
    const revokedKeys = await this.replacement.replace(account, passwordHash, revokeKeys);
    if (revokedKeys === undefined) throw wrongCurrentPassword();
    return { account: this.accounts.merge(account, { passwordHash }), revokedKeys };
  }

  private tierProblems(tier: string): ErrorDetail[] {
    if (this.config.tiers.has(tier)) return [];
    const known = [...this.config.tiers.keys()].join(', ');
    return [{ field: 'tier', message: `There is no tier "${tier}". The tiers are: ${known}.` }];
  }
}

function emailProblems(email: string): ErrorDetail[] {
  return isEmail(email) ? [] : [{ field: 'email', message: 'This is not a valid email address.' }];
}

function passwordProblems(password: string, email: string, field = 'password'): ErrorDetail[] {
  const message = passwordProblem(password, email);
  return message === undefined ? [] : [{ field, message }];
}

function wrongCurrentPassword(): ServiceError {
  return invalid([{ field: 'current_password', message: 'The current password is incorrect.' }]);
}

function invalid(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('invalid_request', 'The account details are invalid.', { details });
}
