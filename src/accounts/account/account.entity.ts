import { isUUID } from 'class-validator';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ServiceError } from '../../platform/common/service-error.js';
import type { Statement } from '../../platform/database/queries/atomic-statements.js';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import type { Config, TierConfig } from '../../platform/config/config.js';

/** An `operator` may see and manage all accounts on the pages. A `member` manages only its own account. */
export const ACCOUNT_ROLES = ['member', 'operator'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/**
 * An account signs in, owns API keys and is rate limited.
 *
 * @since 1.0
 */
@Entity('accounts')
@Index('accounts_by_time', ['createdAt', 'id', 'tier'])
export class Account {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  /** In the form that {@link normalizeEmail} returns. */
  @Column({ type: 'text', unique: true })
  readonly email!: string;

  @Column({ type: 'text', name: 'password_hash' })
  readonly passwordHash!: string;

  /** The name of a tier. {@link tierNamed} handles a name that the configuration no longer has. */
  @Column({ type: 'text' })
  readonly tier!: string;

  @Column({ type: 'text', default: 'member' })
  readonly role!: AccountRole;

  /**
   * The id of the operator or of the operator key that has made the account an operator. `null`: it is no operator, or the admin
   * command or the issuer has, or it is not known.
   */
  @Index()
  @Column({ type: 'text', name: 'operator_by', nullable: true })
  readonly operatorBy!: string | null;

  /** The time at which an operator has disabled the account. `null`: the account is active. */
  @TimestampColumn({ name: 'disabled_at', nullable: true })
  readonly disabledAt!: Date | null;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;
}

type NewAccount = Pick<Account, 'id' | 'email' | 'passwordHash' | 'tier' | 'createdAt'>;

/** Adds an account. */
export function insertAccount({ createdAt, ...account }: NewAccount): Statement {
  return {
    sql: `INSERT INTO accounts (id, email, password_hash, tier, role, created_at)
      VALUES (:id, :email, :passwordHash, :tier, 'member', :now) RETURNING id`,
    parameters: { ...account, now: createdAt.toISOString() },
  };
}

/** @throws {ServiceError} `not_found` for a text that is not the id of an account. */
export function accountIdOf(text: string): string {
  if (isUUID(text)) return text;
  throw new ServiceError('not_found', 'This account does not exist.');
}

const MAX_EMAIL_LENGTH = 254;

/** The syntax that a browser's `<input type="email">` accepts (WHATWG HTML), so that the form and the service agree. */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Returns the form in which an address is stored and looked up. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Whether the text is an email address.
 *
 * @param email in the form that {@link normalizeEmail} returns.
 */
export function isEmail(email: string): boolean {
  return email.length <= MAX_EMAIL_LENGTH && EMAIL.test(email);
}

/** Finds a tier by name. Returns the default tier when the configuration has no tier of this name. */
export function tierNamed(config: Config, name: string): TierConfig {
  return config.tiers.get(name) ?? config.defaultTier;
}
