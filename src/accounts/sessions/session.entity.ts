import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';

/** A browser that is signed in. The token itself is not stored. The row is deleted when the session ends, or soon after. */
@Entity('sessions')
export class Session {
  /** SHA-256 of the token in hexadecimal. */
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  @Index()
  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @ManyToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  /** Up to a minute late, see {@link SessionUseRecorder}. */
  @Index()
  @TimestampColumn({ name: 'last_seen_at' })
  readonly lastSeenAt!: Date;

  /** The session ends at this time, even when it is in use. */
  @Index()
  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}
