import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import type { AccountRole } from './account-role.js';

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

  /** The time at which an operator has disabled the account. `null`: the account is active. */
  @TimestampColumn({ name: 'disabled_at', nullable: true })
  readonly disabledAt!: Date | null;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;
}
