import { utcDay } from '../../plugin-api/core/common.js';
import {
  type BudgetState,
  type UsagePeriod,
  type UsageRow,
  wireBudget,
  wireUsage,
} from '../../plugin-api/core/usage.js';
import type { UsageReport } from './usage-report.dto.js';

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

function entryOf(row: UsageRow): UsageReport['usage'][number] {
  return {
    day: row.day,
    model: row.model,
    key: row.keyId === null ? null : { id: row.keyId, prefix: row.keyPrefix ?? '' },
    ...wireUsage(row),
  };
}
