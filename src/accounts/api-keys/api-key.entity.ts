import { Column, Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import type { BudgetPeriod } from '../../platform/config/limits/budget.js';
import { Account } from '../account/account.entity.js';
import { StoredKey } from '../credentials/stored-key.js';

/** A credential of an account. */
@Entity('api_keys')
@Index('api_keys_expires_at', ['expiresAt', 'id'])
export class ApiKey extends StoredKey {
  @Index()
  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @ManyToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

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

/** The limits that an API key can have, in addition to the limits of its account. `null`: no limit. */
export type KeyLimits = Pick<
  ApiKey,
  'models' | 'requestsPerMinute' | 'tokensPerDay' | 'addresses' | 'budgetMicros' | 'budgetPer'
>;

/** The column of each limit. */
export const KEY_LIMIT_COLUMNS = {
  models: { name: 'models', type: 'text' },
  requestsPerMinute: { name: 'requests_per_minute', type: 'integer' },
  tokensPerDay: { name: 'tokens_per_day', type: 'integer' },
  addresses: { name: 'addresses', type: 'text' },
  budgetMicros: { name: 'budget_micros', type: 'double precision' },
  budgetPer: { name: 'budget_per', type: 'text' },
} as const satisfies Record<keyof KeyLimits, { readonly name: string; readonly type: string }>;

/** Changes of limits. A missing member stays as it is, and `null` removes the limit. */
export type KeyLimitChanges = { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };

/** The names of all limits. */
export const KEY_LIMIT_NAMES = Object.keys(KEY_LIMIT_COLUMNS) as readonly (keyof KeyLimits)[];

/** Returns only the limits of an object that also has other members. */
export function limitsIn(source: KeyLimits): KeyLimits {
  return Object.fromEntries(KEY_LIMIT_NAMES.map((name) => [name, source[name]])) as unknown as KeyLimits;
}
