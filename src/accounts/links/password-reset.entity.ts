import { Column, Entity, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';

/** A link with which a user sets a new password. Each change of the password deletes the row. */
@Entity('password_resets')
export class PasswordReset {
  /** An account has at most one link. */
  @PrimaryColumn({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @OneToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  /** The token itself is not stored. */
  @Column({ type: 'text', name: 'hashed_token', unique: true })
  readonly hashedToken!: string;

  /** The id of the operator. */
  @Column({ type: 'text', name: 'created_by' })
  readonly createdBy!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}
