import { ApiProperty } from '../../platform/http/open-api/api-decorators.js';
import type { BudgetState } from '../budgets/spend-budgets.js';
import type { AccountUsageRow, UsageRow } from './usage-reports.js';

export class UsageCounts {
  @ApiProperty({ type: 'integer', description: 'The number of admitted streams.' })
  readonly requests!: number;

  @ApiProperty({ type: 'integer', description: 'Requests with a complete answer.' })
  readonly completed!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Failed requests. If the client left or the key was revoked, the request is neither complete nor failed.',
  })
  readonly errors!: number;

  @ApiProperty({ type: 'integer', description: 'Input tokens, without requests whose count is unknown.' })
  readonly prompt_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Output tokens, without requests whose count is unknown.' })
  readonly completion_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Requests with an unknown count of input or output tokens.' })
  readonly tokens_unknown!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Requests that `cost` does not include: a count or a price is unknown.',
  })
  readonly cost_unknown!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'In units of `currency`. `null` if no request had both a price and known token counts.',
  })
  readonly cost!: number | null;
}

export class UsageBudget {
  @ApiProperty({ description: 'The most that may be spent in one period, in units of `currency`.' })
  readonly amount!: number;

  @ApiProperty({ description: 'The cost of the requests of this period that are over.' })
  readonly spent!: number;

  @ApiProperty({
    description: 'The most that the running requests can cost, and money for the next second of a busy caller.',
  })
  readonly reserved!: number;

  @ApiProperty({ example: 'USD' })
  readonly currency!: string;

  @ApiProperty({ enum: ['day', 'month'] })
  readonly per!: 'day' | 'month';

  @ApiProperty({ format: 'date-time', description: 'When the next period begins.' })
  readonly resets_at!: string;
}

/** Returns a budget by the names of the API. */
export function wireBudget({ resetsAt, ...budget }: BudgetState): UsageBudget {
  return { ...budget, resets_at: resetsAt.toISOString() };
}

/**
 * Returns a row of a report about all accounts.
 *
 * @param email `undefined` for a deleted account.
 */
export function wireAccountUsage(row: AccountUsageRow, email: string | undefined) {
  return {
    day: row.day,
    account_id: row.accountId,
    email: email ?? null,
    model: row.model,
    key_id: row.keyId,
    key_prefix: row.keyPrefix,
    ...wireUsage(row),
  };
}

/** The names of the figures of a row, in the order of the columns of CSV. */
export const USAGE_FIGURES = Object.keys(wireUsage({} as UsageRow)) as (keyof ReturnType<typeof wireUsage>)[];

/** Returns the figures of a row by their names in reports. A missing cost is `null`. */
export function wireUsage(row: UsageRow) {
  return {
    requests: row.requests,
    completed: row.completed,
    errors: row.errors,
    prompt_tokens: row.inputTokens,
    completion_tokens: row.outputTokens,
    tokens_unknown: row.tokensUnknown,
    cost_unknown: row.withoutCost,
    cost: row.cost ?? null,
    currency: row.currency,
  };
}
