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
  'cost',
  'currency',
] as const;
/** A spreadsheet would run a cell that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

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
    row.cost ?? '',
    row.currency ?? '',
  ]);
  return [COLUMNS, ...lines].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
