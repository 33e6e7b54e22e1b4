import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import {
  isForeignKeyViolation,
  isUniqueViolation,
  orUnavailable,
} from '../../platform/database/queries/query-failure.js';
import { insertAccount, type Account } from '../account/account.entity.js';
import { AccountsService, type AccountReference } from '../accounts/accounts.service.js';
import {
  AccountIdentity,
  deleteIdentityBesidePassword,
  insertIdentity,
  insertIdentityOfPrepared,
  prepareAccount,
  type Identity,
  type NamedIdentity,
} from './identity-statements.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { revokeActiveKeys } from '../api-keys/api-key-statements.js';
import { NO_PASSWORD } from '../passwords/password-hashing.js';

interface NewIdentityAccount {
  /** In the form that `normalizeEmail` returns. */
  readonly email: string;
  /** The name of a tier of the configuration. */
  readonly tier: string;
}

/** Finds accounts by the identities of their owners at issuers, and links both. An address alone never links anything. */
@Injectable()
export class IdentitiesService {
  constructor(
    @InjectRepository(AccountIdentity) private readonly identities: Repository<AccountIdentity>,
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Returns the account of the identity, also a disabled account, or `undefined`. */
  async accountOf({ issuer, subject }: Identity): Promise<Account | undefined> {
    const identity = await orUnavailable(
      this.identities.findOne({ where: { issuer, subject }, relations: { account: true } }),
    );
    return identity?.account;
  }

  /** Returns the identities of the account, at most one for each issuer that the service has had. */
  async identitiesOf(accountId: string): Promise<readonly AccountIdentity[]> {
    return orUnavailable(this.identities.findBy({ accountId }));
  }

  /**
   * Creates an account without a password for the identity.
   *
   * @returns `undefined` if an account with this address exists, or if the identity has an account already.
   */
  async createAccount(identity: NamedIdentity, { email, tier }: NewIdentityAccount): Promise<Account | undefined> {
    const id = randomUUID();
    const now = this.nowAsText();
    const account = { id, email, passwordHash: NO_PASSWORD, tier, createdAt: new Date(now) };
    const created = await this.unlessTaken(id, [insertAccount(account), insertIdentity(identity, id, now)]);
    return created === undefined ? undefined : this.accounts.get({ id });
  }

  /**
   * Links the identity to an account that an operator has prepared for its owner: nobody can sign in to this account, because it
   * has neither a password nor an identity. The caller must know that the address belongs to the person.
   *
   * @returns whether the identity is linked now.
   */
  async linkPrepared(identity: NamedIdentity, accountId: string): Promise<boolean> {
    const rows = await this.unlessTaken(accountId, [insertIdentityOfPrepared(identity, accountId, this.nowAsText())]);
    return rows?.[0]?.length === 1;
  }

  /**
   * Links the identity to the account of a person who is signed in.
   *
   * @throws {ServiceError} `invalid_request` if the identity or the account is linked already; `not_found` for an unknown account.
   */
  async link(identity: NamedIdentity, accountId: string): Promise<void> {
    const linked = await this.accountOf(identity);
    if (linked?.id === accountId) return;
    const rows =
      linked === undefined
        ? await this.unlessTaken(accountId, [insertIdentity(identity, accountId, this.nowAsText())])
        : undefined;
    if (rows !== undefined) return;
    const message =
      linked === undefined
        ? 'This account is linked to another person of the issuer. Unlink that person first.'
        : 'Another account is linked to this person of the issuer.';
    throw new ServiceError('invalid_request', message);
  }

  /**
   * Removes the link of an account that has a password.
   *
   * @returns whether a link was removed.
   */
  async unlink(accountId: string, issuer: string): Promise<boolean> {
    const [removed = []] = await this.database.change(
      { table: 'accounts', id: accountId },
      deleteIdentityBesidePassword(issuer, accountId),
      { actor: `account:${accountId}` },
    );
    return removed.length === 1;
  }

  /** Records a sign-in, with the address that the issuer has sent. */
  async touch({ issuer, subject, email }: NamedIdentity): Promise<void> {
    const lastSignInAt = new Date(this.now());
    await orUnavailable(this.identities.update({ issuer, subject }, { lastSignInAt, email: email ?? null }));
  }

  /** Returns the rows of the statements, or `undefined` if another row has the same address or identity. */
  private async unlessTaken(accountId: string, statements: Parameters<AtomicStatements['run']>[1]) {
    try {
      return await this.database.change({ table: 'accounts', id: accountId }, statements, {
        actor: `account:${accountId}`,
      });
    } catch (error) {
      if (isUniqueViolation(error)) return undefined;
      if (!isForeignKeyViolation(error)) throw error;
      throw new ServiceError('not_found', 'This account does not exist.');
    }
  }

  private nowAsText(): string {
    return new Date(this.now()).toISOString();
  }
}

interface PreparedAccount {
  readonly account: Account;
  /** How many API keys were revoked. */
  readonly revokedKeys: number;
}

/** Prepares accounts for single sign-on, for the operator. */
@Injectable()
export class AccountPreparation {
  constructor(
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Removes the password, the reset link and the identities of an account, and ends its sessions. The next person whom the issuer signs in with
   * this verified address gets the account.
   *
   * @param revokeKeys whether all active API keys of the account are revoked, too.
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async prepare(reference: AccountReference, revokeKeys = false, author?: ChangeAuthor): Promise<PreparedAccount> {
    const account = await this.accounts.get(reference);
    const { id } = account;
    const now = new Date(this.now()).toISOString();
    const changes = [...prepareAccount(id), ...(revokeKeys ? [revokeActiveKeys({ accountId: id, now })] : [])];
    const ended = await this.database.change({ table: 'accounts', id }, changes, author);
    await this.changes.notice([id]);
    return { account, revokedKeys: revokeKeys ? (ended.at(-1)?.length ?? 0) : 0 };
  }
}
