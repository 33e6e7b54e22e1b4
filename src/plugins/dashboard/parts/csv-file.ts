import type { Response } from 'express';
import { csvCell } from '../../../plugin-api/core/common.js';

interface CsvFile<T, Column extends string> {
  readonly columns: readonly Column[];
  readonly pages: AsyncIterable<readonly T[]>;
  readonly rowOf: (item: T) => Readonly<Record<Column, unknown>>;
  /** No page begins after this number of rows. By default all rows are in the file. */
  readonly maxRows?: number;
}

/** Returns the items as CSV (RFC 4180), with a line of column names. An object is written as JSON. */
export async function csvOf<T, Column extends string>(file: CsvFile<T, Column>): Promise<Buffer> {
  const { columns, pages, rowOf, maxRows = Infinity } = file;
  const pieces = [Buffer.from(lineOf(columns))];
  let count = 0;
  for await (const items of pages) {
    const lines = items.map(rowOf).map((row) => lineOf(columns.map((column) => row[column])));
    pieces.push(Buffer.from(lines.join('')));
    count += items.length;
    if (count >= maxRows) break;
  }
  return Buffer.concat(pieces);
}

/** Sends CSV as a file that the browser stores. */
export function sendCsv(response: Response, name: string, body: Buffer): void {
  response.writeHead(200, {
    'Cache-Control': 'no-store',
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Length': body.length,
  });
  response.end(body);
}

function lineOf(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || typeof value === 'string' || typeof value === 'number') return csvCell(value);
  return csvCell(JSON.stringify(value));
}
