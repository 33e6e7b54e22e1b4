import { MICROS } from '../../platform/config/limits/budget.js';
import type { RECORD_FIGURES } from '../../platform/database/migrations/usage-day-statements.js';
import type { DaySums } from './day-sums.js';

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
