import type { Statement } from '../../platform/database/queries/atomic-statements.js';
import { NO_PASSWORD } from '../passwords/password-hashing.js';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, Unique } from 'typeorm';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';

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
