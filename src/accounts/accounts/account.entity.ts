import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';

/** Whoever signs in, owns API keys and is rate limited. */
@Entity('accounts')
export class Account {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  /** As {@link normalizeEmail} gives it. */
  @Column({ type: 'text', unique: true })
  readonly email!: string;

  @Column({ type: 'text', name: 'password_hash' })
  readonly passwordHash!: string;

  /** A name in the configuration; see {@link tierNamed} for one that is gone from there. */
  @Column({ type: 'text' })
  readonly tier!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;
}
