import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { DAY_MS, ServiceError, startOfDay, utcDay } from '../../../plugin-api/core/common.js';
import type { FormField } from '../forms/page-form.js';
import { usagePeriod, type UsagePeriod, type UsageRow } from '../../../plugin-api/core/usage.js';
import { choiceField, FilterForm } from '../parts/lists.js';
import { pathWith, textsIn, type QueryValues } from '../paths.js';

/** The maximum length of a model id or a key id. No id of the ledger is longer. */
const MAX_ID_LENGTH = 255;

/** What the usage pages show, as their address says it. */
export interface UsageFilter {
  readonly days: Range;
  /** `YYYY-MM-DD` in UTC. With one of them, `days` has no effect. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly model?: string | undefined;
  /** The id of an API key, or `session`. */
  readonly key?: string | undefined;
  /** What the chart of costs distinguishes. By default models. */
  readonly by?: 'key' | undefined;
}

/** @throws {ServiceError} `invalid_request` for a number of days that no page offers. */
export function filterIn(query: QueryValues): UsageFilter {
  const { days, by } = query;
  return {
    days: rangeOf(days),
    ...textsIn(query, ['from', 'to', 'model', 'key'], MAX_ID_LENGTH),
    by: by === 'key' ? by : undefined,
  };
}

/** Whether the user has chosen the days, in place of a number of latest days. */
export function hasChosenDays({ from, to }: UsageFilter): boolean {
  return from !== undefined || to !== undefined;
}

/** Whether the filter shows the row. */
export function passes({ model, key }: UsageFilter, row: UsageRow): boolean {
  return (model === undefined || row.model === model) && (key === undefined || (row.keyId ?? row.credential) === key);
}

/** The models that a filter offers: the configured models, then all others that the account has used, such as removed models. */
export function offeredModels(
  configured: readonly { readonly id: string }[],
  used: Iterable<string>,
): readonly string[] {
  return [...new Set([...configured.map(({ id }) => id), ...[...used].sort()])];
}

export interface UsageFilterFormProps {
  readonly filter: UsageFilter;
  /** The path of the page. */
  readonly path: string;
  /** The models that the user can choose. */
  readonly models: readonly string[];
  readonly keys: readonly ListedApiKey[] | undefined;
  /** Whether there is a chart of costs. */
  readonly hasPrices: boolean;
}

/** A field for one model, or all. */
export function modelField(models: readonly string[], value: string | undefined): FormField {
  return choiceField({ label: 'Model', name: 'model', all: 'All models', value }, models);
}

/** A field for one key of an account, or all. */
export function keyField(keys: readonly ListedApiKey[], value: string | undefined): FormField {
  const options = keys.map(({ id, name, prefix }) => [id, `${name} (${prefix}…)`] as const);
  const ofAll = { label: 'Key', name: 'key', all: 'All keys', value };
  return choiceField(ofAll, [['session', 'Playground (session)'], ...options]);
}

/** The period as links, and a form to show one model or one key only. */
export function UsageFilterForm({ filter, path, models, keys = [], hasPrices }: UsageFilterFormProps) {
  const { days, from, to, model, key, by } = filter;
  const hidden = (...names: (keyof UsageFilter)[]): readonly FormField[] =>
    names.map((name) => ({ type: 'hidden', name, value: filter[name] }));
  const costBy = {
    label: 'Cost by',
    name: 'by',
    type: 'select',
    options: { '': 'Model', key: 'Key' },
    value: by,
  } as const;
  return (
    <div class="filters">
      <nav aria-label="Period" class="ranges">
        {RANGES.map((range) => (
          <a
            key={range}
            href={pathWith(path, { ...filter, days: range, from: undefined, to: undefined })}
            aria-current={range === days && !hasChosenDays(filter) ? 'true' : undefined}
          >
            {range} days
          </a>
        ))}
      </nav>
      <FilterForm
        path={path}
        fields={[...hidden('days', 'from', 'to', 'by'), modelField(models, model), keyField(keys, key)]}
      />
      <FilterForm
        path={path}
        fields={[
          ...hidden('days', 'model', 'key'),
          { label: 'From (UTC)', name: 'from', type: 'date', value: from, isOptional: true },
          { label: 'To (UTC)', name: 'to', type: 'date', value: to, isOptional: true },
          ...(hasPrices ? [costBy] : hidden('by')),
        ]}
        button="Show"
      />
    </div>
  );
}

/** The lengths of the period that the user can choose, in days, including today. */
const RANGES = [7, 30, 90] as const;
type Range = (typeof RANGES)[number];

/**
 * Reads the number of days from the query. The default is 30.
 *
 * @throws {ServiceError} `invalid_request` for a value that is not in {@link RANGES}.
 */
function rangeOf(days: unknown): Range {
  if (days === undefined) return 30;
  const range = RANGES.find((known) => String(known) === days);
  if (range !== undefined) return range;
  const message = `must be one of ${RANGES.join(', ')}`;
  throw new ServiceError('invalid_request', `The number of days ${message}.`, {
    details: [{ field: 'days', message }],
  });
}

/** The period of the last `range` days, including today. */
export function lastDays(range: Range, now: number): UsagePeriod {
  return usagePeriod({ from: utcDay(startOfDay(now) - (range - 1) * DAY_MS) }, now);
}
