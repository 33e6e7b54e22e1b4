import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, Unique, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import {
  type Statement,
  AtomicStatements,
  type ChangeAuthor,
} from '../../platform/database/queries/atomic-statements.js';
import {
  isForeignKeyViolation,
  isUniqueViolation,
  orUnavailable,
} from '../../platform/database/queries/query-failure.js';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { Account, insertAccount } from '../account/account.entity.js';
import { AccountsService, type AccountReference } from '../accounts/accounts.service.js';
import { revokeActiveKeys } from '../api-keys/api-key-statements.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { NO_PASSWORD } from '../passwords/password-hashing.js';

/** A person, as an issuer identifies it. */
export interface Identity {
  /** The claim `iss`. */
  readonly issuer: string;
  /** The claim `sub`. */
  readonly subject: string;
}

/** A person with its address at the issuer, which is for people to read only. */
export interface NamedIdentity extends Identity {
  readonly email: string | undefined;
}

export function insertIdentity(identity: NamedIdentity, accountId: string, now: string): Statement {
  return {
    sql: `INSERT INTO account_identities (issuer, subject, account_id, email, created_at, last_sign_in_at)
      VALUES (:issuer, :subject, :accountId, :email, :now, :now) RETURNING account_id`,
    parameters: { ...parametersOf(identity), accountId, now },
  };
}

/** Links an active account to which nobody can sign in: it has no password and no identity. */
export function insertIdentityOfPrepared(identity: NamedIdentity, accountId: string, now: string): Statement {
  return {
    sql: `INSERT INTO account_identities (issuer, subject, account_id, email, created_at, last_sign_in_at)
      SELECT :issuer, :subject, id, :email, :now, :now FROM accounts
      WHERE id = :accountId AND password_hash = :none AND disabled_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM account_identities linked WHERE linked.account_id = :accountId)
      RETURNING account_id`,
    parameters: { ...parametersOf(identity), accountId, now, none: NO_PASSWORD },
  };
}

/** Removes the identity of an issuer from an account, if the account has a password, so that its owner can still sign in. */
export function deleteIdentityBesidePassword(issuer: string, accountId: string): Statement {
  return {
    sql: `DELETE FROM account_identities WHERE issuer = :issuer AND account_id = :accountId
      AND EXISTS (SELECT 1 FROM accounts WHERE id = :accountId AND password_hash <> :none) RETURNING subject`,
    parameters: { issuer, accountId, none: NO_PASSWORD },
  };
}

/** Statements that leave an account without any way to sign in, so that its owner can sign in anew. The last one ends the sessions. */
export function prepareAccount(accountId: string): readonly Statement[] {
  const parameters = { accountId, none: NO_PASSWORD };
  return [
    'UPDATE accounts SET password_hash = :none WHERE id = :accountId RETURNING id',
    'DELETE FROM account_identities WHERE account_id = :accountId RETURNING subject',
    'DELETE FROM one_time_links WHERE account_id = :accountId RETURNING id',
    'DELETE FROM sessions WHERE account_id = :accountId RETURNING id',
  ].map((sql) => ({ sql, parameters }));
}

function parametersOf({ issuer, subject, email }: NamedIdentity) {
  return { issuer, subject, email: email ?? null };
}

/** A person as an issuer of OpenID Connect knows it, who signs in to the account. An account has one identity per issuer. */
@Entity('account_identities')
@Unique(['accountId', 'issuer'])
export class AccountIdentity {
  /** The claim `iss`. */
  @PrimaryColumn({ type: 'text' })
  readonly issuer!: string;

  /** The claim `sub`. It never changes, and no other person of the issuer gets it. */
  @PrimaryColumn({ type: 'text' })
  readonly subject!: string;

  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @ManyToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  /** The address that the issuer sent last. It may differ from the address of the account. For people to read only. */
  @Column({ type: 'text', nullable: true })
  readonly email!: string | null;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'last_sign_in_at' })
  readonly lastSignInAt!: Date;
}

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
