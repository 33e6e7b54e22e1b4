import type { UsageRow } from '../../usage/reports/usage-reports.js';
import { rangeOf, type Range } from './usage-days.js';

/** The maximum length of a model id or a key id in the query. No id of the ledger is longer. */
const LONGEST_ID = 255;

/** What the usage pages show, as their address says it. */
export interface UsageFilter {
  readonly range: Range;
  readonly model: string | undefined;
  /** The id of an API key, or `session`. */
  readonly key: string | undefined;
}

type Query = Readonly<Record<string, unknown>>;

/** @throws {ServiceError} `invalid_request` for a number of days that no page offers. */
export function filterOf({ days, model, key }: Query): UsageFilter {
  return { range: rangeOf(days), model: idIn(model), key: idIn(key) };
}

/** The path of a usage page with the filter in its query. */
export function pathWith(
  path: string,
  { range, model, key }: UsageFilter,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({
    days: String(range),
    ...(model === undefined ? {} : { model }),
    ...(key === undefined ? {} : { key }),
    ...more,
  });
  return `${path}?${query.toString()}`;
}

/** Whether the filter shows the row. */
export function passes({ model, key }: UsageFilter, row: UsageRow): boolean {
  return (model === undefined || row.model === model) && (key === undefined || keyOf(row) === key);
}

/** The value of the filter `key` that shows the row. */
export function keyOf({ credential, keyId }: Pick<UsageRow, 'credential' | 'keyId'>): string {
  return keyId ?? credential;
}

/** An empty field of a form is no filter. */
function idIn(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' && text.length <= LONGEST_ID ? text : undefined;
}
