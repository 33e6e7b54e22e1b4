import type { DataSource } from 'typeorm';

/** As far as statements differ between them. */
export type Engine = 'sqlite' | 'postgres';

export function engineOf({ options }: DataSource): Engine {
  return options.type === 'postgres' ? 'postgres' : 'sqlite';
}

/** Placeholders of `count` parameters, from the one after `before` on. */
export function marks(engine: Engine, count: number, before = 0): string {
  return Array.from({ length: count }, (_, index) => (engine === 'postgres' ? `$${before + index + 1}` : '?')).join(
    ',',
  );
}

/** The time of the database in seconds since 1970, as an expression. */
export function secondsNow(engine: Engine): string {
  return engine === 'postgres' ? 'extract(epoch from clock_timestamp())' : `unixepoch('now', 'subsec')`;
}

const remembered = new Map<string, string>();

/**
 * `INSERT INTO … VALUES …` for rows of parameters.
 *
 * @param expressions further columns, the same in every row.
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
