import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { BudgetPeriod } from '../../config/limits/budget.js';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';

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

  /** The first key in a chain of rotated keys. `null`: this key. */
  @Column({ type: 'text', name: 'origin_id', nullable: true })
  readonly originId!: string | null;

  /** The ids and patterns of the models that the key may use. `null`: all models. */
  @Column({ type: 'simple-json', nullable: true })
  readonly models!: readonly string[] | null;

  @Column({ type: 'integer', name: 'requests_per_minute', nullable: true })
  readonly requestsPerMinute!: number | null;

  @Column({ type: 'integer', name: 'tokens_per_day', nullable: true })
  readonly tokensPerDay!: number | null;

  /** What the key may spend, in whole millionths of the unit of the configured currency. `null`: no limit. */
  @Column({ type: 'float', name: 'budget_micros', nullable: true })
  readonly budgetMicros!: number | null;

  /** The period of the budget. `null`: a month. */
  @Column({ type: 'text', name: 'budget_per', nullable: true })
  readonly budgetPer!: BudgetPeriod | null;

  /** The addresses and CIDR ranges from which the key may be used. `null`: all addresses. */
  @Column({ type: 'simple-json', nullable: true })
  readonly addresses!: readonly string[] | null;
}
