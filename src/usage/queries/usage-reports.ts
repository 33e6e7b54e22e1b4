import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ownTurn } from '../../platform/common/event-loop/event-loop-turns.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { DAY_MS, utcDay } from '../../platform/common/clock.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { engineOf, queryRows } from '../../platform/database/queries/statements.js';
import type { UsageClient } from '../record/usage-record.js';
import { ledgerText } from '../store/ledger-text.js';
import {
  ORDER_OF_ALL,
  pageOfDaySums,
  type DaySums,
  type DaySumsPosition,
  figuresOf,
  type UsageFigures,
} from './usage-sums.js';

/** The usage of one model by one API key, or by another kind of credential, on one day. */
export interface UsageRow extends UsageFigures {
  /** `YYYY-MM-DD` in UTC: the day on which the streams began. */
  readonly day: string;
  readonly model: string;
  readonly credential: UsageClient['credential'];
  /** `null` for a credential that is not an API key. */
  readonly keyId: string | null;
  readonly keyPrefix: string | null;
}

/** A usage row with its account. */
export interface AccountUsageRow extends UsageRow {
  readonly accountId: string;
}

/** Whole days in UTC. `to` is not included. Without `to`, the period has no end; without an account, it is about all accounts. */
interface ReportedPeriod {
  readonly from: Date;
  readonly to?: Date | undefined;
  readonly accountId?: string | undefined;
}

interface UsagePage {
  readonly rows: readonly AccountUsageRow[];
  /** The row after which the next page begins. `undefined`: this is the last page. */
  readonly next: DaySumsPosition | undefined;
}

/** The maximum number of rows in a report: 136 pairs of key and model on each day of a year, some 11 MB as JSON. */
const MAX_ROWS = 50_000;
/** Small, because SQLite blocks the event loop while it reads a page. */
const ROWS_PER_PAGE = 500;

/** The report would have too many rows. A shorter period may have fewer. */
class TooManyRows extends ServiceError {
  constructor() {
    const message = `must be later: the report would have more than ${MAX_ROWS.toLocaleString('en-US')} rows`;
    super('invalid_request', `The period is too long: from ${message}.`, { details: [{ field: 'from', message }] });
  }
}

/**
 * Reports from the daily sums of the ledger. A period always includes whole days in UTC.
 *
 * @since 1.0
 */
@Injectable()
export class UsageReports {
  constructor(private readonly database: DataSource) {}

  /**
   * Returns the rows of one account from `from` until before `to`, oldest day first.
   *
   * @throws {TooManyRows} for more than 50,000 rows.
   */
  async daily(accountId: string, from: Date, to: Date): Promise<readonly UsageRow[]> {
    return this.dailyOfAll(from, to, accountId);
  }

  /** Returns the rows of {@link daily} in pages. Throws the same error. */
  dailyPages(accountId: string, from: Date, to: Date): AsyncIterable<readonly UsageRow[]> {
    return bounded(this.pages(from, to, accountId));
  }

  /** Returns the rows of all accounts, or of one. Throws the same error as {@link daily}. */
  async dailyOfAll(from: Date, to: Date, accountId?: string): Promise<readonly AccountUsageRow[]> {
    const rows: AccountUsageRow[] = [];
    for await (const page of bounded(this.pages(from, to, accountId))) rows.push(...page);
    return rows;
  }

  /** Returns the rows of {@link dailyOfAll} in pages, without a limit. Without `to`, the period has no end. */
  async *pages(from: Date, to?: Date, accountId?: string): AsyncGenerator<readonly AccountUsageRow[], void> {
    let after: DaySumsPosition | undefined;
    do {
      const { rows, next } = await this.page({ from, to, accountId }, after, ROWS_PER_PAGE);
      yield rows;
      after = next;
    } while (after !== undefined);
  }

  /** Returns one page of {@link pages}. It can have fewer rows than `limit`, and even none, although there is a next page. */
  async page(
    { from, to, accountId }: ReportedPeriod,
    after: DaySumsPosition | undefined,
    limit: number,
  ): Promise<UsagePage> {
    await ownTurn();
    const request = {
      from: utcDay(from),
      before: to && utcDay(Math.ceil(to.getTime() / DAY_MS) * DAY_MS),
      accountId: accountId && ledgerText(accountId),
      after,
      limit,
    };
    const rows: DaySums[] = await orUnavailable(
      this.database.query(...pageOfDaySums(engineOf(this.database), request)),
    );
    const last = rows[limit - 1];
    return {
      rows: rows.filter(({ requests }) => Number(requests) > 0).map(usageRowOf),
      next: last && positionOf(last),
    };
  }

  /**
   * Returns the known tokens of an account's streams since the start of the day of `from` in UTC.
   *
   * @param key when given, only streams of this API key and of the keys that have replaced it.
   */
  async tokensSince(accountId: string, from: Date, key?: string): Promise<number> {
    const keys = key === undefined ? undefined : await this.chainOf(accountId, key);
    let tokens = 0;
    for await (const rows of this.pages(from, undefined, accountId)) {
      for (const { keyId, inputTokens, outputTokens } of rows) {
        if (keys === undefined || (keyId !== null && keys.has(keyId))) tokens += inputTokens + outputTokens;
      }
    }
    return tokens;
  }

  /** Returns the ids of a key and of the keys that have replaced it. */
  private async chainOf(accountId: string, origin: string): Promise<ReadonlySet<string>> {
    const sql = 'SELECT id FROM api_keys WHERE account_id = :accountId AND origin_id = :origin';
    const rows = await orUnavailable(queryRows<{ readonly id: string }>(this.database, sql, { accountId, origin }));
    return new Set([origin, ...rows.map(({ id }) => id)]);
  }
}

function positionOf(row: DaySums): DaySumsPosition {
  return Object.fromEntries(ORDER_OF_ALL.map((column) => [column, row[column]])) as DaySumsPosition;
}

/** Throws the same error as {@link UsageReports.daily} when there are too many rows. */
export async function* bounded<Row extends UsageRow>(
  pages: AsyncIterable<readonly Row[]>,
): AsyncIterable<readonly Row[]> {
  let count = 0;
  for await (const rows of pages) {
    count += rows.length;
    if (count > MAX_ROWS) throw new TooManyRows();
    yield rows;
  }
}

export function usageRowOf(row: DaySums): AccountUsageRow {
  return {
    accountId: row.account_id,
    day: row.day,
    model: row.model,
    credential: row.credential,
    keyId: row.key_id || null,
    keyPrefix: row.key_prefix || null,
    ...figuresOf(row),
  };
}
