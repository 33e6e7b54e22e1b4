import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import type { AccountRole } from '../account/account-role.js';

/** A link with which one person creates the account of this address. The row is deleted when the link is used or revoked. */
@Entity('invitations')
export class Invitation {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  /** The token itself is not stored. */
  @Column({ type: 'text', name: 'hashed_token', unique: true })
  readonly hashedToken!: string;

  @Column({ type: 'text', unique: true })
  readonly email!: string;

  @Column({ type: 'text' })
  readonly tier!: string;

  @Column({ type: 'text' })
  readonly role!: AccountRole;

  /** The id of the operator. */
  @Column({ type: 'text', name: 'created_by' })
  readonly createdBy!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @Index('invitations_by_expiry')
  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}
