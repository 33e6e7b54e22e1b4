import { csvCell } from '../../common/text/csv-cell.js';
import type { UsageRow } from '../../usage/reports/usage-reports.js';

const COLUMNS = [
  'day',
  'model',
  'key_id',
  'key_prefix',
  'requests',
  'completed',
  'errors',
  'prompt_tokens',
  'completion_tokens',
  'tokens_unknown',
  'cost_unknown',
  'cost',
  'currency',
] as const;

/** The rows as CSV (RFC 4180), with a line of column names. */
export function usageCsv(rows: Iterable<UsageRow>): string {
  const lines = [...rows].map((row) => [
    row.day,
    row.model,
    row.keyId ?? row.credential,
    row.keyPrefix ?? '',
    row.requests,
    row.completed,
    row.errors,
    row.inputTokens,
    row.outputTokens,
    row.tokensUnknown,
    row.withoutCost,
    row.cost ?? '',
    row.currency ?? '',
  ]);
  return [COLUMNS, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}
