import type { Response } from 'express';
import { csvCell } from '../../../plugin-api/core/common.js';
import type { TimePosition } from '../../../plugin-api/core/database.js';
import { PageForm, type FormField } from '../forms/page-form.js';
import { pathWith, type QueryValues } from '../paths.js';

/** The number of items on a page of a list. */
export const PAGE_SIZE = 50;

/** The filter of a list, as the address of its page has it. */
type Filter = Readonly<Record<string, string | number | undefined>>;

/** PostgreSQL accepts no NUL character in a text. */
const ID = /^[^\p{Cc}\p{Cs}]{0,255}$/u;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Reads the position from the query of a page. An invalid position counts as none: the page begins with the latest entry. */
export function positionIn({ before, id }: QueryValues): TimePosition | undefined {
  if (typeof before !== 'string' || typeof id !== 'string' || !ID.test(id)) return undefined;
  const moment = new Date(before);
  if (Number.isNaN(moment.getTime())) return undefined;
  const time = moment.toISOString();
  // Years with more than four digits do not sort as texts.
  return time.length === ISO_LENGTH ? { time, id } : undefined;
}

interface OlderLinksProps {
  /** The path of the list. */
  readonly path: string;
  readonly filter?: Filter | undefined;
  /** The position of this page. `undefined` on the first page. */
  readonly before: TimePosition | undefined;
  /** The position of the next page. `undefined` on the last page. */
  readonly next: TimePosition | undefined;
}

/** Links to the first page and to the next page of a list by time. Shows nothing if the list has one page only. */
export function OlderLinks({ path, filter, before, next }: OlderLinksProps) {
  if (before === undefined && next === undefined) return null;
  return (
    <nav class="pagination" aria-label="Pages">
      {before === undefined ? null : <a href={pathWith(path, { ...filter })}>← Latest</a>}
      {next === undefined ? null : (
        <a rel="next" href={pathWith(path, { ...filter, before: next.time, id: next.id })}>
          Older →
        </a>
      )}
    </nav>
  );
}

/** The page number in a list, starting at 1, the number of pages, and the number of items before the page. */
interface Paging {
  readonly number: number;
  readonly of: number;
  readonly offset: number;
}

/** @param wanted the page number as the query has it. A number above the last page gives the last page. */
export function pagingOf(wanted: unknown, itemCount: number): Paging {
  const of = Math.max(1, Math.ceil(itemCount / PAGE_SIZE));
  const found = typeof wanted === 'string' && /^[1-9]\d{0,6}$/.test(wanted) ? Number(wanted) : 1;
  const number = Math.min(found, of);
  return { number, of, offset: (number - 1) * PAGE_SIZE };
}

interface PaginationProps {
  readonly paging: Paging;
  /** The path of the list. */
  readonly path: string;
  readonly filter: Filter;
  readonly fragment?: string;
}

/** Links to the previous and the next page of a list with numbered pages. Shows nothing if the list has one page only. */
export function Pagination({ paging: { number, of }, path, filter, fragment = '' }: PaginationProps) {
  if (of <= 1) return null;
  const pathOf = (page: number) => pathWith(path, { ...filter, page }) + fragment;
  return (
    <nav class="pagination" aria-label="Pages">
      {number === 1 ? null : (
        <a rel="prev" href={pathOf(number - 1)}>
          ← Newer
        </a>
      )}
      <span class="fine">
        Page {number} of {of}
      </span>
      {number === of ? null : (
        <a rel="next" href={pathOf(number + 1)}>
          Older →
        </a>
      )}
    </nav>
  );
}

interface Choice {
  readonly label: string;
  readonly name: string;
  /** The label of no choice. */
  readonly all: string;
  readonly value: string | undefined;
}

/** A field of a filter. Each option is a value, or a value and its label. */
export function choiceField(
  { all, ...field }: Choice,
  options: Iterable<string | readonly [string, string]>,
): FormField {
  const entries = [...options].map((option) => (typeof option === 'string' ? ([option, option] as const) : option));
  return { ...field, type: 'select', options: Object.fromEntries([['', all], ...entries]) };
}

/** A field of a filter for the states of things, which have a label and the tone of their badge. */
export function stateField(
  states: Readonly<Record<string, readonly [label: string, tone: string]>>,
  value: string | undefined,
): FormField {
  const options = Object.entries(states).map(([state, [label]]) => [state, label] as const);
  return choiceField({ label: 'State', name: 'state', all: 'All states', value }, options);
}

interface FilterFormProps {
  /** The path of the list. */
  readonly path: string;
  readonly fields: readonly FormField[];
  readonly button?: string;
}

/** The form above a list, in one line. The address of the list then has the values of its fields. */
export function FilterForm({ path, fields, button = 'Apply' }: FilterFormProps) {
  return <PageForm method="get" action={path} layout="row" fields={fields} button={button} tone="quiet" />;
}

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
