import type { DataSource } from 'typeorm';

/** The database engines, as far as their statements differ. */
export type Engine = 'sqlite' | 'postgres';

export function engineOf({ options }: Pick<DataSource, 'options'>): Engine {
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

/** The values of parameters by name. A list stands for several parameters, as in `id IN (:ids)`. */
export type Parameters = Readonly<Record<string, string | number | null | readonly (string | number)[]>>;

/**
 * Replaces the parameters `:name` of a statement by the placeholders of the engine.
 *
 * @returns the statement, and the values of its placeholders.
 */
export function placed(engine: Engine, sql: string, parameters: Parameters): [statement: string, values: unknown[]] {
  const values: unknown[] = [];
  const places = new Map<string, string>();
  const statement = sql.replaceAll(/(?<![:\w]):([a-z]\w*)/gi, (_, name: string) => {
    const known = places.get(name);
    if (known !== undefined) return known;
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`The statement has no value for :${name}.`);
    const added = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    const place = marks(engine, added.length, values.push(...added) - added.length);
    // PostgreSQL numbers its placeholders, so a repeated name needs no further value.
    if (engine === 'postgres') places.set(name, place);
    return place;
  });
  return [statement, values];
}

/** Runs a statement with parameters written as `:name`. Returns the rows that it selects, or that its `RETURNING` names. */
export async function queryRows<Row>(
  database: Pick<DataSource, 'options' | 'query'>,
  sql: string,
  parameters: Parameters = {},
): Promise<Row[]> {
  const result: unknown = await database.query(...placed(engineOf(database), sql, parameters));
  if (!Array.isArray(result)) return [];
  // TypeORM returns the rows of UPDATE and DELETE with their number on PostgreSQL, and alone on SQLite.
  const [first] = result as readonly unknown[];
  return (Array.isArray(first) ? first : result) as Row[];
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
