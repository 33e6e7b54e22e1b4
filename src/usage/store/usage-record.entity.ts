import { Column, Entity, Index, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import type { StreamOutcome } from '../record/stream-outcome.js';
import type { TokenCount } from '../record/usage-record.js';

type Source = TokenCount['source'];

/** The driver of PostgreSQL returns 64-bit integers as texts. No count is above 2^53. */
const WIDE_NUMBER: ValueTransformer = {
  to: (value: number | null) => value,
  from: (value: string | number | null) => (value === null ? null : Number(value)),
};

/** One admitted stream, as the ledger keeps it. No account and no key is referenced: what happened outlives both. */
@Entity('usage_records')
@Index(['accountId', 'startedAt'])
export class UsageRecordEntity {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  @Column({ type: 'text', name: 'request_id' })
  readonly requestId!: string;

  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @Column({ type: 'text' })
  readonly credential!: string;

  @Column({ type: 'text', name: 'key_id', nullable: true })
  readonly keyId!: string | null;

  @Column({ type: 'text', name: 'key_prefix', nullable: true })
  readonly keyPrefix!: string | null;

  @Column({ type: 'text' })
  readonly model!: string;

  @Column({ type: 'text', nullable: true })
  readonly upstream!: string | null;

  /** How many upstreams were asked. */
  @Column({ type: 'integer' })
  readonly attempts!: number;

  @TimestampColumn({ name: 'started_at' })
  readonly startedAt!: Date;

  @TimestampColumn({ name: 'first_text_at', nullable: true })
  readonly firstTextAt!: Date | null;

  @TimestampColumn({ name: 'ended_at', nullable: true })
  readonly endedAt!: Date | null;

  @Column({ type: 'text' })
  readonly outcome!: StreamOutcome;

  @Column({ type: 'text', name: 'error_code', nullable: true })
  readonly errorCode!: string | null;

  @Column({ type: 'text', name: 'finish_reason', nullable: true })
  readonly finishReason!: string | null;

  @Column({ type: 'bigint', name: 'prompt_tokens', nullable: true, transformer: WIDE_NUMBER })
  readonly promptTokens!: number | null;

  @Column({ type: 'text', name: 'prompt_tokens_source' })
  readonly promptTokensSource!: Source;

  @Column({ type: 'bigint', name: 'completion_tokens', nullable: true, transformer: WIDE_NUMBER })
  readonly completionTokens!: number | null;

  @Column({ type: 'text', name: 'completion_tokens_source' })
  readonly completionTokensSource!: Source;

  /** Per million tokens, in force when the stream ended; as all money, in `currency`. */
  @Column({ type: 'float', name: 'input_price', nullable: true })
  readonly inputPrice!: number | null;

  @Column({ type: 'float', name: 'output_price', nullable: true })
  readonly outputPrice!: number | null;

  /** Millionths of the currency's unit; whole, in a column type that holds them exactly in both engines. */
  @Column({ type: 'float', name: 'cost_micros', nullable: true })
  readonly costMicros!: number | null;

  @Column({ type: 'text', nullable: true })
  readonly currency!: string | null;
}
