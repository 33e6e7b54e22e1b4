import { marks, type Engine } from '../../platform/database/queries/statements.js';
import type { UsageClient } from '../record/usage-record.js';

/** A row of the daily sums as the drivers return it. The driver of PostgreSQL returns counts as texts. */
export interface DaySums {
  readonly day: string;
  readonly account_id: string;
  readonly model: string;
  /** Empty without an API key. */
  readonly key_id: string;
  readonly credential: UsageClient['credential'];
  /** Empty without a price. */
  readonly currency: string;
  readonly key_prefix: string;
  readonly requests: string | number;
  readonly completed: string | number;
  readonly errors: string | number;
  readonly tokens_unknown: string | number;
  readonly tokens_estimated: string | number;
  readonly without_cost: string | number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_micros: number;
}

/** The order of the rows. There is an index for each, so that the database does not sort a page. */
export const ORDER_OF_ACCOUNT = ['day', 'model', 'key_id', 'credential', 'currency'] as const;
export const ORDER_OF_ALL = ['day', 'account_id', 'model', 'key_id', 'credential', 'currency'] as const;

/** The values of the columns of the order, which identify a row. */
export type DaySumsPosition = Readonly<Record<(typeof ORDER_OF_ALL)[number], string>>;

interface PageRequest {
  /** `YYYY-MM-DD`, as `before`. */
  readonly from: string;
  /** `undefined`: to the last day. */
  readonly before: string | undefined;
  /** `undefined`: all accounts. */
  readonly accountId: string | undefined;
  /** The last row of the previous page. */
  readonly after: DaySumsPosition | undefined;
  readonly limit: number;
}

/**
 * Returns the statement for one page of the daily sums, and its parameters. The page can have empty rows without requests,
 * which a correction leaves behind. A condition for them would make the number of rows that the statement reads unlimited.
 */
export function pageOfDaySums(
  engine: Engine,
  { from, before, accountId, after, limit }: PageRequest,
): [statement: string, parameters: string[]] {
  const parameters: string[] = [];
  const mark = (...values: string[]): string =>
    marks(engine, values.length, parameters.push(...values) - values.length);
  const order = accountId === undefined ? ORDER_OF_ALL : ORDER_OF_ACCOUNT;
  const conditions = [
    ...(accountId === undefined ? [] : [`account_id = ${mark(accountId)}`]),
    // Not both: SQLite would then start every page at the first day of the period.
    after === undefined
      ? `day >= ${mark(from)}`
      : `(${order.join(', ')}) > (${mark(...order.map((column) => after[column]))})`,
    ...(before === undefined ? [] : [`day < ${mark(before)}`]),
  ];
  const where = conditions.join(' AND ');
  return [`SELECT * FROM usage_days WHERE ${where} ORDER BY ${order.join(', ')} LIMIT ${limit}`, parameters];
}
