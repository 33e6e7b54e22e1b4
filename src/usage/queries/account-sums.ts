import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ownTurn } from '../../platform/common/event-loop/event-loop-turns.js';
import { RECORD_FIGURES } from '../../platform/database/migrations/usage-day-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { engineOf, marks } from '../../platform/database/queries/statements.js';
import { ledgerText } from '../store/ledger-text.js';
import { ORDER_OF_ACCOUNT, ORDER_OF_ALL, type DaySums } from './day-sums.js';
import { figuresOf, type FigureRow, type UsageFigures } from './usage-figures.js';

/** The usage of one account on one day in one currency. */
export interface AccountFigures extends UsageFigures {
  readonly accountId: string;
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
}

/** Whole days in UTC, as `YYYY-MM-DD`. Both are included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

type SumRow = FigureRow & Pick<DaySums, 'account_id' | 'day'>;

/** How many rows one statement adds up. SQLite blocks the process for about 3 ms. */
const ROWS_AT_ONCE = 1000;
const COLUMNS = Object.keys(RECORD_FIGURES).map((column) => `SUM(${column}) AS ${column}`);
const SUMS = `SELECT account_id, day, currency, ${COLUMNS.join(', ')}
  FROM usage_days`;

/**
 * Adds up the daily sums of the ledger by account and day, for the pages of operators. The sums come in parts, and one account
 * can be in several parts, so the caller adds them up. Other work of the process runs between two parts.
 */
@Injectable()
export class AccountSums {
  constructor(private readonly database: DataSource) {}

  /** Returns the sums of the named accounts. A day without usage has none, a day with two currencies has two. */
  async *of(accountIds: readonly string[], days: Days): AsyncGenerator<readonly AccountFigures[], void> {
    for (const accountId of accountIds) yield* this.parts(days, ledgerText(accountId));
  }

  /** Returns the sums of all accounts, also of deleted accounts. */
  ofAll(days: Days): AsyncGenerator<readonly AccountFigures[], void> {
    return this.parts(days);
  }

  private async *parts({ from, to }: Days, accountId?: string): AsyncGenerator<readonly AccountFigures[], void> {
    const order = accountId === undefined ? ORDER_OF_ALL : ORDER_OF_ACCOUNT;
    const columns = order.join(', ');
    let after: DaySums | undefined;
    do {
      await ownTurn();
      const values: string[] = [];
      const mark = (...added: string[]): string =>
        marks(engineOf(this.database), added.length, values.push(...added) - added.length);
      const beyond = (operator: '>' | '<=', row: DaySums): string =>
        `(${columns}) ${operator} (${mark(...order.map((column) => row[column]))})`;
      const scope = accountId === undefined ? '' : `account_id = ${mark(accountId)} AND `;
      const begin = scope + (after === undefined ? `day >= ${mark(from)}` : beyond('>', after));
      const ofBegin = values.length;
      const [end]: DaySums[] = await this.query(
        `SELECT ${columns} FROM usage_days WHERE ${begin} AND day <= ${mark(to)}
          ORDER BY ${columns} LIMIT 1 OFFSET ${ROWS_AT_ONCE - 1}`,
        values,
      );
      values.length = ofBegin;
      const until = end === undefined ? `day <= ${mark(to)}` : beyond('<=', end);
      const rows: SumRow[] = await this.query(
        `${SUMS} WHERE ${begin} AND ${until} AND requests > 0 GROUP BY account_id, day, currency`,
        values,
      );
      yield rows.map((row) => ({ accountId: row.account_id, day: row.day, ...figuresOf(row) }));
      after = end;
    } while (after !== undefined);
  }

  private query<T>(statement: string, values: readonly string[]): Promise<T[]> {
    return orUnavailable(this.database.query<T[]>(statement, [...values]));
  }
}
