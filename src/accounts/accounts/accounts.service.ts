import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { CONFIG, type Config, type TierConfig } from '../../platform/config/config.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import { inChunks } from '../../platform/common/in-chunks.js';
import { isUniqueViolation, orUnavailable } from '../../platform/database/queries/query-failure.js';
import { NO_PASSWORD, PasswordHashing } from '../passwords/password-hashing.js';
import { PasswordReplacement } from '../passwords/password-replacement.js';
import { Account, insertAccount, isEmail, normalizeEmail, tierNamed } from '../account/account.entity.js';
import { AccountChanges, type AccountChange } from '../credentials/account-changes.js';
import {
  emailProblems,
  emailTaken,
  expectNoProblems,
  passwordProblems,
  tierProblems,
  wrongCurrentPassword,
} from './account-details.js';

const IDS_PER_QUERY = 500;

/** An email address, or an id. The address of a deleted account can later belong to another account, the id cannot. */
export type AccountReference = string | { readonly id: string };

interface NewAccount {
  /** A UUID. A caller that may repeat its request sets the id, so that the account is created only once. By default a new UUID. */
  readonly id?: string | undefined;
  readonly email: string;
  /** `undefined`: nobody can sign in to the account until its owner does by single sign-on with its address. */
  readonly password?: string | undefined;
  /** By default, the configured default tier. */
  readonly tier?: string | undefined;
}

export interface PasswordWorkOptions {
  /** Who makes the change, for the audit log. By default the owner of the account. */
  readonly author?: ChangeAuthor | undefined;
  /** The address of the owner, if the owner makes the change. */
  readonly source?: string | undefined;
  /** The network of the client, in the form that `sitePrefixOf` returns. Without a network, the work counts as the operator's. */
  readonly network?: string | undefined;
}

export interface PasswordChangeOptions extends PasswordWorkOptions {
  /** Whether all active API keys of the account are revoked, too. */
  readonly revokeKeys?: boolean | undefined;
  /** The hash of the token of a link for a new password. The link must still be valid when the password is replaced. */
  readonly hashedLinkToken?: string | undefined;
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
    private readonly statements: AtomicStatements,
    private readonly changes: AccountChanges,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates an account.
   *
   * @throws {ServiceError} `invalid_request` with the invalid fields, also when another account has the email address.
   */
  async create(
    { id = randomUUID(), email, password, tier = this.config.defaultTier.name }: NewAccount,
    { network, author, source }: PasswordWorkOptions = {},
  ): Promise<Account> {
    const normalized = normalizeEmail(email);
    expectNoProblems([
      ...emailProblems(normalized),
      ...(password === undefined ? [] : passwordProblems(this.config, password, normalized)),
      ...tierProblems(this.config, tier),
    ]);

    const account = this.accounts.create({
      id,
      email: normalized,
      passwordHash: password === undefined ? NO_PASSWORD : await this.passwords.hash(password, network),
      tier,
      role: 'member',
      operatorBy: null,
      disabledAt: null,
      createdAt: new Date(this.now()),
    });
    try {
      const by = author ?? { actor: `account:${account.id}`, source };
      await this.statements.change({ table: 'accounts', id: account.id }, [insertAccount(account)], by);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw emailTaken();
    }
    return account;
  }

  /**
   * Checks the address and the tier of an account that does not exist yet. Returns the address in its stored form, and the tier.
   *
   * @throws {ServiceError} `invalid_request` with the invalid fields, also when an account has the address.
   */
  async expectNew({
    email,
    tier = this.config.defaultTier.name,
  }: Pick<NewAccount, 'email' | 'tier'>): Promise<Pick<Account, 'email' | 'tier'>> {
    const normalized = normalizeEmail(email);
    expectNoProblems([...emailProblems(normalized), ...tierProblems(this.config, tier)]);
    if ((await this.findByEmail(normalized)) !== undefined) throw emailTaken();
    return { email: normalized, tier };
  }

  /**
   * Checks a new password, and returns its hash.
   *
   * @throws {ServiceError} `invalid_request` when the password is not acceptable.
   */
  async hashNewPassword(email: string, password: string, { network }: PasswordWorkOptions = {}): Promise<string> {
    expectNoProblems(passwordProblems(this.config, password, email));
    return this.passwords.hash(password, network);
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

  /**
   * Calls the listener within a second after each change of an account that any replica or the admin command makes: it was disabled,
   * enabled or deleted, or has another tier or role; its key was revoked or changed, or its session was ended. A key or a session that
   * expires is no change. For strategies and caches of plugins that keep what they have read of accounts.
   *
   * After an outage of the database, the changes come late.
   *
   * @param listener must return quickly. Errors are logged.
   * @returns a function that removes the listener.
   * @example this.accounts.onChange(({ accountId }) => this.remembered.delete(accountId));
   */
  onChange(listener: (change: AccountChange) => void): () => void {
    return this.changes.listen(listener);
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
  async setTier(reference: AccountReference, tier: string, author?: ChangeAuthor): Promise<Account> {
    expectNoProblems(tierProblems(this.config, tier));
    const account = await this.get(reference);
    const { id } = account;
    const sql = 'UPDATE accounts SET tier = :tier WHERE id = :id RETURNING id';
    const change = { sql, parameters: { id, tier } };
    await this.statements.change({ table: 'accounts', id }, change, author);
    await this.changes.notice([id]);
    return this.accounts.merge(account, { tier });
  }

  /**
   * Returns the account if the password is correct and the account is not disabled. An unknown address and a disabled
   * account take as long as a wrong password. With `PASSWORDS=off`, no password is correct.
   */
  async verifyPassword(
    email: string,
    password: string,
    { network }: PasswordWorkOptions = {},
  ): Promise<Account | undefined> {
    if (this.config.passwords === 'off') return undefined;
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
    expectNoProblems(passwordProblems(this.config, next, account.email, 'new_password'));
    const matches = await this.passwords.verify(account.passwordHash, current, options.network);
    if (!matches) throw wrongCurrentPassword();
    return this.replacePassword(account, next, options);
  }

  /**
   * Sets a new password without the current password, for the operator. Ends all sessions of the account.
   *
   * @throws {ServiceError} `invalid_request` when the password is not acceptable, `not_found` for an unknown account.
   */
  async setPassword(
    reference: AccountReference,
    password: string,
    options: PasswordChangeOptions = {},
  ): Promise<ChangedPassword> {
    return this.resetPassword(await this.get(reference), password, options);
  }

  /**
   * Sets a new password as {@link setPassword}, unless the password of `account` has changed since it was read.
   *
   * @throws {ServiceError} `invalid_request` when the password is not acceptable, or has changed.
   */
  async resetPassword(
    account: Account,
    password: string,
    options: PasswordChangeOptions = {},
  ): Promise<ChangedPassword> {
    expectNoProblems(passwordProblems(this.config, password, account.email));
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
    options: PasswordChangeOptions,
  ): Promise<ChangedPassword> {
    const { network, source, author = { actor: `account:${account.id}`, source } } = options;
    const passwordHash = await this.passwords.hash(next, network);
    const revokedKeys = await this.replacement.replace(account, passwordHash, options, author);
    if (revokedKeys === undefined) throw wrongCurrentPassword();
    return { account: this.accounts.merge(account, { passwordHash }), revokedKeys };
  }
}
