import { Injectable } from '@nestjs/common';
import { setImmediate as afterOtherWork } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { engineOf, marks } from '../../database/queries/statements.js';
import { ledgerText } from '../store/ledger-text.js';
import { ORDER_OF_ALL, type DaySums } from './day-sums.js';
import { figuresOf, FIGURE_COLUMNS, type FigureRow, type UsageFigures } from './usage-figures.js';

/** The usage of one account in one currency. */
export interface AccountFigures extends UsageFigures {
  readonly accountId: string;
}

/** Whole days in UTC, as `YYYY-MM-DD`. Both are included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The place of a row in {@link ORDER_OF_ALL}. */
type Place = Pick<DaySums, (typeof ORDER_OF_ALL)[number]>;
type SumRow = FigureRow & { readonly account_id: string };

/** How many rows one statement adds up. SQLite blocks the process for about 3 ms. */
const ROWS_AT_ONCE = 1000;
const ORDER = ORDER_OF_ALL.join(', ');
const SUMS = `SELECT account_id, currency, ${FIGURE_COLUMNS.map((column) => `SUM(${column}) AS ${column}`).join(', ')}
  FROM usage_days WHERE requests > 0 AND`;
const BY_ACCOUNT = 'GROUP BY account_id, currency';

/** Adds up the daily sums of the ledger by account, for the pages of operators. */
@Injectable()
export class AccountSums {
  constructor(private readonly database: DataSource) {}

  /** Returns the sums of the named accounts. An account without usage has none, an account with two currencies has two. */
  async of(accountIds: readonly string[], { from, to }: Days): Promise<readonly AccountFigures[]> {
    if (accountIds.length === 0) return [];
    const ids = accountIds.map(ledgerText);
    const rows = await this.query<SumRow>(
      `${SUMS} day >= ${this.marks(1)} AND day <= ${this.marks(1, 1)} AND account_id IN (${this.marks(ids.length, 2)})
        ${BY_ACCOUNT}`,
      [from, to, ...ids],
    );
    return rows.map(accountFiguresOf);
  }

  /**
   * Returns the sums of all accounts, also of deleted accounts. The same account can be in several parts, so the caller adds
   * them up. Other work of the process runs between two parts.
   */
  async *ofAll({ from, to }: Days): AsyncGenerator<readonly AccountFigures[], void> {
    let after: Place | undefined;
    do {
      await afterOtherWork();
      const [begin, values] =
        after === undefined ? [`day >= ${this.marks(1)}`, [from]] : [this.beyond('>', 0), placeValues(after)];
      const [end]: Place[] = await this.query<Place>(
        `SELECT ${ORDER} FROM usage_days WHERE ${begin} AND day <= ${this.marks(1, values.length)}
          ORDER BY ${ORDER} LIMIT 1 OFFSET ${ROWS_AT_ONCE - 1}`,
        [...values, to],
      );
      const [until, last] =
        end === undefined
          ? [`day <= ${this.marks(1, values.length)}`, [to]]
          : [this.beyond('<=', values.length), placeValues(end)];
      const rows = await this.query<SumRow>(`${SUMS} ${begin} AND ${until} ${BY_ACCOUNT}`, [...values, ...last]);
      yield rows.map(accountFiguresOf);
      after = end;
    } while (after !== undefined);
  }

  private query<T>(statement: string, values: readonly string[]): Promise<T[]> {
    return orUnavailable(this.database.query<T[]>(statement, [...values]));
  }

  private beyond(operator: '>' | '<=', before: number): string {
    return `(${ORDER}) ${operator} (${this.marks(ORDER_OF_ALL.length, before)})`;
  }

  private marks(count: number, before = 0): string {
    return marks(engineOf(this.database), count, before);
  }
}

function placeValues(place: Place): string[] {
  return ORDER_OF_ALL.map((column) => place[column]);
}

function accountFiguresOf(row: SumRow): AccountFigures {
  return { accountId: row.account_id, ...figuresOf(row) };
}
