import type { BudgetState } from '../budgets/spend-budgets.js';
import type { AccountUsageRow, UsageRow } from './usage-reports.js';
import type { UsageBudget } from './usage.dto.js';

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
