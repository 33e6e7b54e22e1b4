import { Injectable } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';

/** A statement in SQL that both engines know. It returns rows: a change ends with `RETURNING`. */
export interface Statement {
  /** Names its parameters as `:name`. */
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | null>>;
}

export type Row = Readonly<Record<string, string | null>>;

/** The row that calls wait for, such as that of an account. It need not exist. */
export interface LockedRow {
  readonly table: string;
  readonly id: string;
}

/** Runs several statements as one. */
@Injectable()
export class AtomicStatements {
  /** The latest call for each row in this process, until it has ended. */
  private readonly latest = new Map<string, Promise<unknown>>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs all of the statements or none. Calls for the same row run one after the other, in whichever process they are, so
   * a statement may depend on what an earlier call has changed.
   *
   * @returns the rows of each statement.
   * @throws the error of the first statement that fails; nothing is changed then.
   */
  async run(row: LockedRow, statements: readonly Statement[]): Promise<Row[][]> {
    if (this.dataSource.options.type !== 'postgres') return this.runAtOnce(statements);
    const name = `${row.table} ${row.id}`;
    // Calls of this process wait here, not in the database, where each would keep a connection of the pool.
    const before = this.latest.get(name);
    const call = (async () => {
      await before?.catch(() => undefined);
      return this.runLocked(row, statements);
    })();
    this.latest.set(name, call);
    try {
      return await call;
    } finally {
      if (this.latest.get(name) === call) this.latest.delete(name);
    }
  }

  /** The lock leaves the row free to be referenced, so that records of the account are written meanwhile. */
  private async runLocked({ table, id }: LockedRow, statements: readonly Statement[]): Promise<Row[][]> {
    const lock = { sql: `SELECT id FROM ${table} WHERE id = :id FOR NO KEY UPDATE`, parameters: { id } };
    return this.dataSource.transaction(async ({ queryRunner }) => {
      const results: Row[][] = [];
      for (const { sql, parameters } of [lock, ...statements]) {
        const [query, values] = this.dataSource.driver.escapeQueryWithParameters(sql, parameters);
        const result = await queryRunner?.query(query, values, true);
        results.push((result?.records ?? []) as Row[]);
      }
      return results.slice(1);
    });
  }

  /**
   * All statements in one turn of the event loop: TypeORM has one connection to SQLite, so another statement of this
   * process could get into a transaction that waits between its statements.
   */
  private runAtOnce(statements: readonly Statement[]): Row[][] {
    const driver = this.dataSource.driver as BetterSqlite3Driver;
    const database = driver.databaseConnection as Database;
    const transaction = database.transaction(() =>
      statements.map(({ sql, parameters }) => {
        const [query, values] = driver.escapeQueryWithParameters(sql, parameters) as [string, (string | null)[]];
        return database.prepare(query).all(...values) as Row[];
      }),
    );
    // Takes the lock for writing at once: what it reads cannot be out of date when it writes.
    return transaction.immediate();
  }
}
