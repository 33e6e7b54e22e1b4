import type { DataSource } from 'typeorm';

/** The database engines, as far as their statements differ. */
export type Engine = 'sqlite' | 'postgres';

export function engineOf({ options }: DataSource): Engine {
  return options.type === 'postgres' ? 'postgres' : 'sqlite';
}

/**
 * Returns the placeholders of `count` parameters.
 *
 * @param before the number of parameters before them in the statement.
 */
export function marks(engine: Engine, count: number, before = 0): string {
  return Array.from({ length: count }, (_, index) => (engine === 'postgres' ? `$${before + index + 1}` : '?')).join(
    ',',
  );
}

/**
 * Returns the rows of an `UPDATE … RETURNING` or `DELETE … RETURNING`. TypeORM returns them with their number on PostgreSQL, and
 * alone on SQLite.
 */
export function rowsOf(result: unknown): readonly unknown[] {
  const [first] = result as readonly unknown[];
  return Array.isArray(first) ? first : (result as readonly unknown[]);
}

/** Returns an SQL expression for the time of the database, in seconds since 1970. */
export function secondsNow(engine: Engine): string {
  return engine === 'postgres' ? 'extract(epoch from clock_timestamp())' : `unixepoch('now', 'subsec')`;
}

const remembered = new Map<string, string>();

/**
 * Returns an `INSERT INTO … VALUES …` statement for rows of parameters.
 *
 * @param expressions additional columns with SQL expressions, which are the same in every row.
 */
export function insertStatement(
  engine: Engine,
  table: string,
  columns: readonly string[],
  rowCount: number,
  expressions: Readonly<Record<string, string>> = {},
): string {
  const key = JSON.stringify([engine, table, columns, rowCount, expressions]);
  let statement = remembered.get(key);
  if (statement === undefined) {
    const fixed = Object.values(expressions).map((expression) => `,${expression}`);
    const rows = Array.from(
      { length: rowCount },
      (_, row) => `(${marks(engine, columns.length, row * columns.length)}${fixed.join('')})`,
    );
    const names = [...columns, ...Object.keys(expressions)].join(', ');
    statement = `INSERT INTO ${table} (${names}) VALUES ${rows.join(',')}`;
    remembered.set(key, statement);
  }
  return statement;
}
