import { Injectable } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { orUnavailable } from './query-failure.js';
import { placed } from './statements.js';

/**
 * An SQL statement that works on both engines. It must return rows: a statement that changes rows ends with `RETURNING`.
 *
 * @since 1.0
 */
export interface Statement {
  /** The SQL text, with parameters written as `:name`. */
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | null>>;
}

export type Row = Readonly<Record<string, string | null>>;

/** Who makes a change, and from where. The audit log keeps both. */
export interface ChangeAuthor {
  /** `account:<id>`, `operator-key:<id>`, `command`, `service`, or a name of a plugin. */
  readonly actor: string;
  /** The address of the client, or the user and the host of a command. */
  readonly source?: string | undefined;
}

/** The row that serializes calls, such as the row of an account. The row does not have to exist. */
export interface LockedRow {
  readonly table: string;
  readonly id: string;
}

/**
 * Runs several statements atomically, on SQLite and on PostgreSQL. On SQLite, TypeORM has no transactions: all of a process use one
 * connection.
 *
 * @since 1.0
 */
@Injectable()
export class AtomicStatements {
  /** The latest unfinished call of this process for each row. */
  private readonly latest = new Map<string, Promise<unknown>>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs all statements or none. Calls for the same row run one after the other, even in different processes. So a
   * statement may depend on the changes of an earlier call.
   *
   * @param author is written to the audit log with the changes. By default, the log names the service.
   * @returns the rows of each statement.
   * @throws the error of the first statement that fails. In this case, nothing is changed.
   */
  async run(row: LockedRow, statements: readonly Statement[], author?: ChangeAuthor): Promise<Row[][]> {
    if (this.dataSource.options.type !== 'postgres') return this.runAtOnce(statements, author);
    const name = `${row.table} ${row.id}`;
    // Calls of this process wait here. If they waited in the database, each call would occupy a connection of the pool.
    const before = this.latest.get(name);
    const call = (async () => {
      await before?.catch(() => undefined);
      return this.runLocked(row, statements, author);
    })();
    this.latest.set(name, call);
    try {
      return await call;
    } finally {
      if (this.latest.get(name) === call) this.latest.delete(name);
    }
  }

  /**
   * Runs the statements of a request, as {@link run}.
   *
   * @throws {ServiceError} `unavailable` for every failure except the violation of a unique or a foreign key.
   */
  async change(row: LockedRow, changes: Statement | readonly Statement[], author?: ChangeAuthor): Promise<Row[][]> {
    return orUnavailable(this.run(row, [changes].flat(), author));
  }

  /**
   * Runs the statements in a transaction that locks the row. Other rows can still reference the locked row, so that records
   * of the account can be written meanwhile.
   */
  private async runLocked(
    { table, id }: LockedRow,
    statements: readonly Statement[],
    author: ChangeAuthor | undefined,
  ): Promise<Row[][]> {
    const lock = { sql: `SELECT id FROM ${table} WHERE id = :id FOR NO KEY UPDATE`, parameters: { id } };
    const before = author === undefined ? [lock] : [lock, authorStatement(author)];
    return this.dataSource.transaction(async ({ queryRunner }) => {
      const results: Row[][] = [];
      for (const { sql, parameters } of [...before, ...statements]) {
        const result = await queryRunner?.query(...placed('postgres', sql, parameters), true);
        results.push((result?.records ?? []) as Row[]);
      }
      return results.slice(before.length);
    });
  }

  /**
   * Runs all statements in one turn of the event loop. TypeORM has only one connection to SQLite. If a transaction waited
   * between its statements, another statement of this process could become part of the transaction.
   */
  private runAtOnce(statements: readonly Statement[], author: ChangeAuthor | undefined): Row[][] {
    const driver = this.dataSource.driver as BetterSqlite3Driver;
    const database = driver.databaseConnection as Database;
    const transaction = database.transaction(() => {
      if (author !== undefined) {
        // No other process sees this row: the transaction removes it.
        const insert = database.prepare('INSERT INTO audit_authors (actor, source) VALUES (?, ?)');
        insert.run(author.actor, author.source ?? null);
      }
      const results = statements.map(({ sql, parameters }) => {
        const [statement, values] = placed('sqlite', sql, parameters);
        return database.prepare(statement).all(...values) as Row[];
      });
      if (author !== undefined) database.prepare('DELETE FROM audit_authors').run();
      return results;
    });
    // The transaction takes the write lock at once. So the rows that it reads cannot be outdated when it writes.
    return transaction.immediate();
  }
}

/** Names the author of the transaction for the triggers of the audit log, on PostgreSQL. */
function authorStatement({ actor, source }: ChangeAuthor): Statement {
  return {
    sql: "SELECT set_config('chat.actor', :actor, true), set_config('chat.source', :source, true)",
    parameters: { actor, source: source ?? '' },
  };
}
