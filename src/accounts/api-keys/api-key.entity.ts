import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import { Account } from '../accounts/account.entity.js';

/** A credential of an account. The key itself is not stored. */
@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  @Index()
  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @ManyToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  /** The name that the owner has given to the key. */
  @Column({ type: 'text' })
  readonly name!: string;

  /** The key's first characters, to tell keys apart. */
  @Column({ type: 'text' })
  readonly prefix!: string;

  @Column({ type: 'text', name: 'hashed_key', unique: true })
  readonly hashedKey!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  readonly expiresAt!: Date | null;

  /** Up to a minute late, see {@link LastUsedRecorder}. */
  @TimestampColumn({ name: 'last_used_at', nullable: true })
  readonly lastUsedAt!: Date | null;

  @TimestampColumn({ name: 'revoked_at', nullable: true })
  readonly revokedAt!: Date | null;
}
