import type { DataSource } from 'typeorm';
import { ownTurn } from '../../common/event-loop/event-loop-turns.js';
import { orUnavailable } from './query-failure.js';
import { engineOf, marks } from './statements.js';

/** The position of a row in a list. Rows can have the same time, so the time alone is not a position. */
export interface TimePosition {
  /** As the database stores it: ISO 8601 in UTC. */
  readonly time: string;
  readonly id: string;
}

/** Returns an SQL condition. `mark` adds a parameter to the statement and returns its placeholder. */
export type Condition = (mark: (value: string) => string) => string;

/** A list of the rows of a table by time, latest first. An index must begin with the scope, the time and the id. */
export interface TimeList {
  readonly table: string;
  /** The columns to read, in SQL. They include the time and the id. */
  readonly columns: string;
  readonly timeColumn: string;
  /** The conditions on the columns before the time in the index. */
  readonly scope: readonly Condition[];
  /** All other conditions. Fastest if the index has their columns after the id. */
  readonly filter: readonly Condition[];
  /** The list has only rows from this time on, as the database stores it. `undefined`: all earlier rows, too. */
  readonly from?: string | undefined;
  /** The list has only rows before this time. */
  readonly to?: string | undefined;
}

export interface TimePage<Row> {
  readonly rows: readonly Row[];
  /** The position after which the next page begins. `undefined`: this is the last page. */
  readonly next: TimePosition | undefined;
}

/** The maximum number of index entries that one statement reads. SQLite blocks the process for about 1 ms. */
const ENTRIES_PER_STEP = 2_000;
/** The maximum number of steps for one page, so a page reads at most 100,000 index entries. */
const MAX_STEPS = 50;

/**
 * Reads one page of a list. The cost is limited for every filter: each statement reads a limited part of the index, and other
 * work of the process runs between two statements. A page of a rare kind of rows can therefore be incomplete or even empty
 * although there is a next page.
 *
 * @param after the page begins after this position. `undefined`: with the latest row.
 * @throws {ServiceError} `unavailable` when the database is unavailable.
 */
export async function pageByTime<Row extends object>(
  database: DataSource,
  list: TimeList,
  after: TimePosition | undefined,
  limit: number,
): Promise<TimePage<Row>> {
  const scan = new TimeScan(database, list);
  const rows: Row[] = [];
  const begin = startOf(list.to);
  let position = begin === undefined || (after !== undefined && after.time < begin.time) ? after : begin;
  for (let step = 0; step < MAX_STEPS; step++) {
    await ownTurn();
    // Without a filter, the limit of the page limits the entries.
    const end = list.filter.length === 0 ? undefined : await scan.endOfStep(position);
    rows.push(...(await scan.rows<Row>(position, end, limit + 1 - rows.length)));
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    if (last !== undefined) return { rows: rows.slice(0, limit), next: scan.positionOf(last) };
    if (end === undefined) return { rows, next: undefined };
    position = end;
  }
  return { rows, next: position };
}

/**
 * Merges pages of several lists that begin after the same position. A row that is older than the end of an incomplete page is
 * left out, because that list can have a later row that was not read yet.
 */
export function mergedByTime<Row>(
  pages: readonly TimePage<Row>[],
  positionOf: (row: Row) => TimePosition,
  limit: number,
): TimePage<Row> {
  const ends = pages.flatMap(({ next }) => next ?? []).sort(latestFirst);
  const [end] = ends;
  const rows = pages
    .flatMap((page) => page.rows)
    .sort((one, other) => latestFirst(positionOf(one), positionOf(other)))
    .filter((row) => end === undefined || latestFirst(positionOf(row), end) <= 0);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? end : positionOf(last) };
}

/** The position before all rows of this time. */
function startOf(time: string | undefined): TimePosition | undefined {
  return time === undefined ? undefined : { time, id: '' };
}

function latestFirst(one: TimePosition, other: TimePosition): number {
  if (one.time !== other.time) return one.time < other.time ? 1 : -1;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}

/**
 * Counts the rows of a list by the value of a column, in steps as {@link pageByTime}. The number of steps is not limited.
 *
 * @throws {ServiceError} `unavailable` when the database is unavailable.
 */
export async function countByTime(
  database: DataSource,
  list: Omit<TimeList, 'columns'>,
  column: string,
): Promise<ReadonlyMap<string, number>> {
  const scan = new TimeScan(database, { ...list, columns: '' });
  const counts = new Map<string, number>();
  let position: TimePosition | undefined;
  do {
    await ownTurn();
    const end = await scan.endOfStep(position);
    for (const { value, count } of await scan.counts(column, position, end)) {
      counts.set(value, (counts.get(value) ?? 0) + Number(count));
    }
    position = end;
  } while (position !== undefined);
  return counts;
}

/** The statements for one list. A step is the part of the list between two positions. */
class TimeScan {
  private readonly order: string;

  constructor(
    private readonly database: DataSource,
    private readonly list: TimeList,
  ) {
    this.order = `ORDER BY ${list.timeColumn} DESC, id DESC`;
  }

  /** Returns the position at which the step ends that begins after `after`. `undefined`: the step ends with the list. */
  async endOfStep(after: TimePosition | undefined): Promise<TimePosition | undefined> {
    const tail = `${this.order} LIMIT 1 OFFSET ${ENTRIES_PER_STEP - 1}`;
    const [last] = await this.select<object>(`${this.list.timeColumn}, id`, this.between(after, undefined), tail);
    return last && this.positionOf(last);
  }

  /** Returns the rows of a step that pass the filter. */
  rows<Row>(after: TimePosition | undefined, end: TimePosition | undefined, limit: number): Promise<Row[]> {
    const { columns, filter } = this.list;
    return this.select(columns, [...this.between(after, end), ...filter], `${this.order} LIMIT ${limit}`);
  }

  /** Counts the rows of a step that pass the filter, by the value of a column. */
  counts(
    column: string,
    after: TimePosition | undefined,
    end: TimePosition | undefined,
  ): Promise<{ readonly value: string; readonly count: string | number }[]> {
    const conditions = [...this.between(after, end), ...this.list.filter];
    return this.select(`${column} AS value, COUNT(*) AS count`, conditions, `GROUP BY ${column}`);
  }

  positionOf(row: object): TimePosition {
    const { [this.list.timeColumn]: time = '', id = '' } = row as Readonly<Record<string, string>>;
    return { time, id };
  }

  private between(after: TimePosition | undefined, end: TimePosition | undefined): readonly Condition[] {
    const { scope } = this.list;
    const until = end === undefined ? this.beyond('>', startOf(this.list.from)) : this.beyond('>=', end);
    return [...scope, ...this.beyond('<', after), ...until];
  }

  /** The time and the id are one row value: the databases do not use two separate conditions as a range of the index. */
  private beyond(operator: '<' | '>' | '>=', position: TimePosition | undefined): readonly Condition[] {
    if (position === undefined) return [];
    const { time, id } = position;
    return [(mark) => `(${this.list.timeColumn}, id) ${operator} (${mark(time)}, ${mark(id)})`];
  }

  private select<T>(columns: string, conditions: readonly Condition[], tail: string): Promise<T[]> {
    const values: string[] = [];
    const engine = engineOf(this.database);
    const mark = (value: string): string => marks(engine, 1, values.push(value) - 1);
    const all = conditions.map((condition) => condition(mark)).join(' AND ');
    const where = all === '' ? '' : `WHERE ${all} `;
    return orUnavailable(this.database.query<T[]>(`SELECT ${columns} FROM ${this.list.table} ${where}${tail}`, values));
  }
}
