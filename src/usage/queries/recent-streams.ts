import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { API_KEY_FORMAT } from '../../accounts/credentials/secrets.js';
import { MICROS } from '../../platform/config/limits/budget.js';
import {
  type Condition,
  type TimeList,
  pageByTime,
  type TimePage,
  type TimePosition,
} from '../../platform/database/queries/page-by-time.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { engineOf, queryRows } from '../../platform/database/queries/statements.js';
import type { FailureCause } from '../../upstreams/contract/provider-failure.js';
import type { StreamOutcome, UsageClient } from '../record/usage-record.js';
import { ledgerText } from '../store/ledger-text.js';
import { type LedgerRow, readAttempts, ledgerRow } from '../store/record-columns.js';

/** Which requests of which accounts a list has. A member that is `undefined` does not restrict the list. */
export interface RequestScopeFilter {
  readonly accountId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly model?: string | undefined;
  readonly errorCode?: string | undefined;
  /** The id or the beginning of an API key, or `session` for the pages of the service. */
  readonly key?: string | undefined;
}

/**
 * Returns the conditions of a list, so that the list reads the index that has the fewest rows: of the request id, of the account,
 * or of all.
 */
export function scopeOf(filters: RequestScopeFilter): Pick<TimeList, 'scope' | 'filter'> {
  const { accountId, requestId, model, errorCode, key } = filters;
  const ofAccount = equal('account_id', accountId);
  const ofRequest = equal('request_id', requestId);
  const filter = [...equal('model', model), ...equal('error_code', errorCode), ...ofKey(key)];
  return ofRequest.length === 0
    ? { scope: ofAccount, filter }
    : { scope: ofRequest, filter: [...ofAccount, ...filter] };
}

function ofKey(key: string | undefined): readonly Condition[] {
  if (key === 'session') return equal('credential', key);
  return key?.startsWith(API_KEY_FORMAT.mark) === true
    ? equal('key_prefix', API_KEY_FORMAT.prefixOf(key))
    : equal('key_id', key);
}

/** No condition for `undefined`. */
export function equal(column: string, value: string | undefined): readonly Condition[] {
  return value === undefined ? [] : [(mark) => `${column} = ${mark(ledgerText(value))}`];
}

/** What one stream has used and cost. A value that is not known is `null`. */
export type Receipt = ReturnType<typeof receiptOf> & { readonly total?: ReturnType<typeof totalOf> };

export function receiptOf(row: LedgerRow) {
  return {
    request_id: row.request_id,
    model: row.model,
    surface: row.surface,
    outcome: row.outcome as StreamOutcome,
    finish_reason: row.finish_reason,
    started_at: row.started_at,
    first_text_at: row.first_text_at,
    ended_at: row.ended_at,
    tokens: {
      input: row.prompt_tokens,
      cached_input: row.cached_prompt_tokens,
      cache_write_input: row.cache_write_prompt_tokens,
      output: row.completion_tokens,
      reasoning_output: row.reasoning_completion_tokens,
      source: sourceOf(row),
    },
    tool_calls: row.tool_calls,
    cost: row.cost_micros === null ? null : row.cost_micros / MICROS,
    currency: row.currency,
    attempts: readAttempts(row.attempt_details).map(({ upstream, code, duration_ms }) => ({
      upstream,
      ...(code !== undefined && { code }),
      duration_ms,
    })),
  };
}

/** The most completions of one request that a receipt adds up. A client may send one request id any number of times. */
const MAX_COMPLETIONS = 100;

/** Returns what the completions with one request id have used and cost together. */
function totalOf(rows: readonly LedgerRow[]) {
  const sum = (column: 'prompt_tokens' | 'completion_tokens' | 'cost_micros'): number | null => {
    const values = rows.map((row) => row[column]);
    return values.includes(null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0);
  };
  const [currency = null, ...others] = new Set(rows.map((row) => row.currency));
  const micros = others.length > 0 ? null : sum('cost_micros');
  return {
    completions: rows.length,
    tokens: { input: sum('prompt_tokens'), output: sum('completion_tokens') },
    cost: micros === null ? null : micros / MICROS,
    currency: others.length > 0 ? null : currency,
  };
}

/** Returns the least certain source of the known counts. */
function sourceOf(row: LedgerRow): 'reported' | 'estimated' | 'unknown' {
  const sources = [
    ...(row.prompt_tokens === null ? [] : [row.prompt_tokens_source]),
    ...(row.completion_tokens === null ? [] : [row.completion_tokens_source]),
  ];
  if (sources.length === 0) return 'unknown';
  return sources.every((source) => source === 'reported') ? 'reported' : 'estimated';
}

/** A receipt with the account and the credential that the stream used. */
export interface ListedStream extends Receipt {
  /** The id of the record. A request id can have several records. */
  readonly id: string;
  readonly accountId: string;
  readonly credential: UsageClient['credential'];
  readonly keyId: string | null;
  readonly keyPrefix: string | null;
  /** The error code that the client received, if there was one. */
  readonly errorCode: string | null;
  /** Why each of the attempts failed, for operators. `undefined`: the attempt did not fail, or the cause is not known. */
  readonly causes: readonly (FailureCause | undefined)[];
}

/** Which streams a list has. A member that is `undefined` does not restrict the list. */
export interface StreamFilter extends RequestScopeFilter {
  readonly from: Date;
  readonly to: Date;
  readonly credential?: UsageClient['credential'] | undefined;
  /** Only streams whose last attempt was at this upstream. */
  readonly upstream?: string | undefined;
  /** Only streams with one of these outcomes. */
  readonly outcomes?: readonly StreamOutcome[] | undefined;
  /** The list begins with the streams that began before this position. */
  readonly before?: TimePosition | undefined;
}

/** A row as the drivers return it. */
type StoredRow = Readonly<Record<string, unknown>>;

const LATEST = {
  sqlite: `SELECT * FROM usage_records WHERE account_id = :account AND request_id = :request ORDER BY id DESC LIMIT :limit`,
  // PostgreSQL would read the ids of all accounts backwards for an order by `id`. Only the index has this order.
  postgres: `SELECT * FROM (SELECT * FROM usage_records WHERE (account_id, request_id) <= (:account, :request)
    ORDER BY account_id DESC, request_id DESC, id DESC LIMIT :limit) AS latest
    WHERE account_id = :account AND request_id = :request`,
};

/** Reads the single streams of one account, or of all, from the ledger. */
@Injectable()
export class RecentStreams {
  constructor(private readonly database: DataSource) {}

  /**
   * Returns one page of the list, the latest first. If few streams pass the filter, a page can have fewer streams than `limit`, and even
   * none, although there is a next page: see {@link pageByTime}.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async list(filter: StreamFilter, limit: number): Promise<TimePage<ListedStream>> {
    const { from, to, credential, upstream, outcomes = [], before } = filter;
    const { scope, filter: conditions } = scopeOf(filter);
    const { rows, next } = await pageByTime<StoredRow>(
      this.database,
      {
        table: 'usage_records',
        columns: '*',
        timeColumn: 'started_at',
        scope,
        filter: [...conditions, ...equal('credential', credential), ...equal('upstream', upstream), ...oneOf(outcomes)],
        from: from.toISOString(),
        to: to.toISOString(),
      },
      before && { time: before.time, id: ledgerText(before.id) },
      limit,
    );
    return { rows: rows.map(ledgerRow).map(listedStreamOf), next };
  }

  /** Returns the latest stream of the account with this request id that is over, or `undefined`. */
  async find(accountId: string, requestId: string): Promise<ListedStream | undefined> {
    const [row] = await this.latest(accountId, requestId, 1);
    return row && listedStreamOf(row);
  }

  /** Returns the receipt of {@link find}, with the total of all completions with the request id if there are several. */
  async receipt(accountId: string, requestId: string): Promise<Receipt | undefined> {
    // Most requests have one completion. PostgreSQL reads as many rows as it is asked for, also those of other requests.
    const [latest, another] = await this.latest(accountId, requestId, 2);
    if (latest === undefined) return undefined;
    const rows = another === undefined ? [] : await this.latest(accountId, requestId, MAX_COMPLETIONS + 1);
    const hasTotal = rows.length > 1 && rows.length <= MAX_COMPLETIONS;
    return { ...receiptOf(rows[0] ?? latest), ...(hasTotal && { total: totalOf(rows) }) };
  }

  /** Returns the stream with this record id, of any account, or `undefined`. */
  async findRecord(id: string): Promise<ListedStream | undefined> {
    const sql = 'SELECT * FROM usage_records WHERE id = :id';
    const [row] = await orUnavailable(queryRows<StoredRow>(this.database, sql, { id: ledgerText(id) }));
    return row && listedStreamOf(ledgerRow(row));
  }

  /** The client chooses the request id, so one id can have any number of records: an index has them in this order. */
  private async latest(accountId: string, requestId: string, limit: number): Promise<readonly LedgerRow[]> {
    const parameters = { account: ledgerText(accountId), request: ledgerText(requestId), limit };
    const sql = LATEST[engineOf(this.database)];
    return (await orUnavailable(queryRows<StoredRow>(this.database, sql, parameters))).map(ledgerRow);
  }
}

function oneOf(outcomes: readonly StreamOutcome[]): readonly Condition[] {
  if (outcomes.length === 0) return [];
  return [(mark) => `outcome IN (${outcomes.map((outcome) => mark(outcome)).join(', ')})`];
}

function listedStreamOf(row: LedgerRow): ListedStream {
  return {
    ...receiptOf(row),
    id: row.id,
    accountId: row.account_id,
    credential: row.credential as UsageClient['credential'],
    keyId: row.key_id,
    keyPrefix: row.key_prefix,
    errorCode: row.error_code,
    causes: readAttempts(row.attempt_details).map(({ cause }) => cause),
  };
}
