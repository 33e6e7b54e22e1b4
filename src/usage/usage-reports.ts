import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { orUnavailable } from '../database/query-failure.js';
import { FAILED_OUTCOMES } from './stream-outcome.js';
import { UsageRecordEntity } from './usage-record.entity.js';
import type { UsageParty } from './usage-record.js';

/** What one key, or another kind of credential, did with one model on one day. */
export interface UsageRow {
  /** `YYYY-MM-DD`, in UTC, by the beginning of each stream. */
  readonly day: string;
  readonly model: string;
  readonly credential: UsageParty['credential'];
  /** `null` for what is no API key. */
  readonly keyId: string | null;
  readonly keyPrefix: string | null;
  readonly requests: number;
  readonly completed: number;
  /** Failed for a fault of the vendor, the service or the request; not those whose client left. */
  readonly errors: number;
  /** Of the requests of which they are known. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Requests of which nobody knows the tokens of the prompt or of the answer. */
  readonly tokensUnknown: number;
  /** Requests of which at least one of the two is an estimate. */
  readonly tokensEstimated: number;
  /** In the currency's unit; `undefined` when no request had a price and known tokens. */
  readonly cost: number | undefined;
  /** Requests that are not in it. */
  readonly withoutCost: number;
  /** `null` where no request had a price. */
  readonly currency: string | null;
}

/** The same of all accounts. */
export interface AccountUsageRow extends UsageRow {
  readonly accountId: string;
}

interface RawRow extends Record<string, string | number | null> {
  readonly day: string;
  readonly model: string;
  readonly account_id: string;
  readonly credential: UsageParty['credential'];
  readonly key_id: string | null;
  readonly key_prefix: string | null;
  readonly currency: string | null;
}

/** Sums of the ledger. */
@Injectable()
export class UsageReports {
  constructor(@InjectRepository(UsageRecordEntity) private readonly records: Repository<UsageRecordEntity>) {}

  /** An account's own, oldest day first; from `from` to before `to`. */
  async daily(accountId: string, from: Date, to: Date): Promise<readonly UsageRow[]> {
    return this.dailyOfAll(from, to, accountId);
  }

  /** Everyone's, or those of one account, with whose they are. */
  async dailyOfAll(from: Date, to: Date, accountId?: string): Promise<readonly AccountUsageRow[]> {
    const query = this.sums(from, to);
    if (accountId !== undefined) query.andWhere('usage.account_id = :accountId', { accountId });
    const rows = await orUnavailable(query.getRawMany<RawRow>());
    return rows.map((row) => ({ accountId: row.account_id, ...rowOf(row) }));
  }

  /** Tokens of an account's streams that began at `from` or later, as far as they are known. */
  async tokensSince(accountId: string, from: Date): Promise<number> {
    const row = await orUnavailable(
      this.records
        .createQueryBuilder('usage')
        .select('SUM(COALESCE(usage.prompt_tokens, 0) + COALESCE(usage.completion_tokens, 0))', 'tokens')
        .where('usage.account_id = :accountId AND usage.started_at >= :from', { accountId, from: from.toISOString() })
        .getRawOne<{ tokens: string | number | null }>(),
    );
    return Number(row?.tokens ?? 0);
  }

  private sums(from: Date, to: Date): SelectQueryBuilder<UsageRecordEntity> {
    return this.records
      .createQueryBuilder('usage')
      .select('SUBSTR(usage.started_at, 1, 10)', 'day')
      .addSelect('usage.account_id', 'account_id')
      .addSelect('usage.model', 'model')
      .addSelect('usage.credential', 'credential')
      .addSelect('usage.key_id', 'key_id')
      .addSelect('MAX(usage.key_prefix)', 'key_prefix')
      .addSelect('COUNT(*)', 'requests')
      .addSelect(`SUM(CASE WHEN usage.outcome = 'completed' THEN 1 ELSE 0 END)`, 'completed')
      .addSelect('SUM(CASE WHEN usage.outcome IN (:...failed) THEN 1 ELSE 0 END)', 'errors')
      .addSelect('SUM(COALESCE(usage.prompt_tokens, 0))', 'prompt_tokens')
      .addSelect('SUM(COALESCE(usage.completion_tokens, 0))', 'completion_tokens')
      .addSelect(
        'SUM(CASE WHEN usage.prompt_tokens IS NULL OR usage.completion_tokens IS NULL THEN 1 ELSE 0 END)',
        'tokens_unknown',
      )
      .addSelect(
        `SUM(CASE WHEN usage.prompt_tokens_source = 'estimated' OR usage.completion_tokens_source = 'estimated' THEN 1 ELSE 0 END)`,
        'tokens_estimated',
      )
      .addSelect('SUM(usage.cost_micros)', 'cost_micros')
      .addSelect('SUM(CASE WHEN usage.cost_micros IS NULL THEN 1 ELSE 0 END)', 'without_cost')
      .addSelect('usage.currency', 'currency')
      .where('usage.started_at >= :from AND usage.started_at < :to', {
        from: from.toISOString(),
        to: to.toISOString(),
        failed: FAILED_OUTCOMES,
      })
      .groupBy('SUBSTR(usage.started_at, 1, 10)')
      .addGroupBy('usage.account_id, usage.model, usage.credential, usage.key_id, usage.currency')
      .orderBy('day')
      .addOrderBy('usage.account_id')
      .addOrderBy('usage.model')
      .addOrderBy('usage.key_id');
  }
}

/** PostgreSQL gives sums as text. */
function rowOf(row: RawRow): UsageRow {
  return {
    day: row.day,
    model: row.model,
    credential: row.credential,
    keyId: row.key_id,
    keyPrefix: row.key_prefix,
    requests: Number(row['requests']),
    completed: Number(row['completed']),
    errors: Number(row['errors']),
    promptTokens: Number(row['prompt_tokens']),
    completionTokens: Number(row['completion_tokens']),
    tokensUnknown: Number(row['tokens_unknown']),
    tokensEstimated: Number(row['tokens_estimated']),
    cost: row['cost_micros'] == null ? undefined : Number(row['cost_micros']) / 1_000_000,
    withoutCost: Number(row['without_cost']),
    currency: row.currency,
  };
}
