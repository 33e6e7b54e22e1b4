import { utcDay } from '../../platform/common/clock.js';
import type { BudgetState } from '../budgets/spend-budgets.js';
import type { UsagePeriod } from './usage-period.js';
import type { AccountUsageRow, UsageRow } from './usage-reports.js';
import type { UsageBudget, UsageReport } from './usage.dto.js';

/** Returns the {@link UsageReport} as JSON, in pieces. Writing a long report in one go would block the event loop. */
export async function reportJson(
  { from, to }: UsagePeriod,
  pages: AsyncIterable<readonly UsageRow[]>,
  budget?: BudgetState,
): Promise<readonly Buffer[]> {
  const head = {
    from: utcDay(from),
    to: utcDay(to.getTime() - 1),
    budget: budget === undefined ? null : wireBudget(budget),
  };
  const pieces = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"usage":[`)];
  let separator = '';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    pieces.push(Buffer.from(separator + JSON.stringify(rows.map(entryOf)).slice(1, -1)));
    separator = ',';
  }
  pieces.push(Buffer.from(']}'));
  return pieces;
}

/** Returns a budget by the names of the API. */
export function wireBudget({ resetsAt, ...budget }: BudgetState): UsageBudget {
  return { ...budget, resets_at: resetsAt.toISOString() };
}

function entryOf(row: UsageRow): UsageReport['usage'][number] {
  return {
    day: row.day,
    model: row.model,
    key: row.keyId === null ? null : { id: row.keyId, prefix: row.keyPrefix ?? '' },
    ...wireUsage(row),
  };
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
export const USAGE_FIGURES = [
  'requests',
  'completed',
  'errors',
  'prompt_tokens',
  'completion_tokens',
  'tokens_unknown',
  'cost_unknown',
  'cost',
  'currency',
] as const satisfies readonly (keyof ReturnType<typeof wireUsage>)[];

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
