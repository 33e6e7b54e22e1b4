import { MICROS } from '../../platform/config/limits/budget.js';
import { RECORD_FIGURES } from '../../platform/database/migrations/usage-day-statements.js';
import { marks, type Engine } from '../../platform/database/queries/statements.js';
import type { UsageClient } from '../record/usage-record.js';

/** The sums of some requests. */
export interface UsageFigures {
  readonly requests: number;
  readonly completed: number;
  /** Requests that failed because of the provider, the service or the request. Not requests whose client left. */
  readonly errors: number;
  /** The sum over the requests with known tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Requests with unknown tokens of the prompt or of the answer. */
  readonly tokensUnknown: number;
  /** Requests with an estimated number of tokens of the prompt or of the answer. */
  readonly tokensEstimated: number;
  /** In units of the currency. `undefined` when no request had a price and known tokens. */
  readonly cost: number | undefined;
  /** Requests that `cost` does not include. */
  readonly withoutCost: number;
  /** `null` where no request had a price. */
  readonly currency: string | null;
}

/** A row with the columns of the daily sums that are added up. */
export type FigureRow = Pick<DaySums, keyof typeof RECORD_FIGURES | 'currency'>;

export function figuresOf(row: FigureRow): UsageFigures {
  const [requests, withoutCost] = [Number(row.requests), Number(row.without_cost)];
  return {
    requests,
    completed: Number(row.completed),
    errors: Number(row.errors),
    inputTokens: row.prompt_tokens,
    outputTokens: row.completion_tokens,
    tokensUnknown: Number(row.tokens_unknown),
    tokensEstimated: Number(row.tokens_estimated),
    cost: requests > withoutCost ? row.cost_micros / MICROS : undefined,
    withoutCost,
    currency: row.currency || null,
  };
}

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
