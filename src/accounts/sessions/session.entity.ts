import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import { Account } from '../accounts/account.entity.js';

/** A browser that is signed in. The token itself is not kept. A session that has ended has no row. */
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

  /** Up to a minute behind: see {@link SessionUseRecorder}. */
  @Index()
  @TimestampColumn({ name: 'last_seen_at' })
  readonly lastSeenAt!: Date;

  /** The end, however much the session is used. */
  @Index()
  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}
