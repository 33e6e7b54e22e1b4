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

/** Returns the rows as CSV (RFC 4180), with a line of column names. */
export async function usageCsv(pages: AsyncIterable<readonly UsageRow[]>): Promise<Buffer> {
  const pieces = [linesOf([COLUMNS])];
  for await (const rows of pages) pieces.push(linesOf(rows.map(cellsOf)));
  return Buffer.concat(pieces);
}

function cellsOf(row: UsageRow): readonly (string | number)[] {
  return [
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
  ];
}

function linesOf(lines: readonly (readonly (string | number)[])[]): Buffer {
  return Buffer.from(lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join(''));
}
