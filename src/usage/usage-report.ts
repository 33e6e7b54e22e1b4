import type { UsagePeriod } from './usage-period.js';
import type { UsageRow } from './usage-reports.js';
import type { UsageReport } from './usage.dto.js';

/** The rows as they are sent. */
export function reportOf({ from, to }: UsagePeriod, rows: readonly UsageRow[]): UsageReport {
  return {
    from: dayOf(from),
    to: dayOf(new Date(to.getTime() - 1)),
    usage: rows.map((row) => ({
      day: row.day,
      model: row.model,
      key: row.keyId === null ? null : { id: row.keyId, prefix: row.keyPrefix ?? '' },
      requests: row.requests,
      completed: row.completed,
      errors: row.errors,
      prompt_tokens: row.promptTokens,
      completion_tokens: row.completionTokens,
      tokens_unknown: row.tokensUnknown,
      cost: row.cost ?? null,
      currency: row.currency,
    })),
  };
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
