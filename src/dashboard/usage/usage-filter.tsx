import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { UsageRow } from '../../usage/reports/usage-reports.js';
import { FilterForm } from '../parts/lists.js';
import { pathWith, textIn, type QueryValues } from '../parts/query.js';
import { RANGES, rangeOf, type Range } from './usage-days.js';

/** The maximum length of a model id or a key id. No id of the ledger is longer. */
const MAX_ID_LENGTH = 255;

/** What the usage pages show, as their address says it. */
export interface UsageFilter {
  readonly days: Range;
  readonly model?: string | undefined;
  /** The id of an API key, or `session`. */
  readonly key?: string | undefined;
}

/** @throws {ServiceError} `invalid_request` for a number of days that no page offers. */
export function filterIn({ days, model, key }: QueryValues): UsageFilter {
  return { days: rangeOf(days), model: textIn(model, MAX_ID_LENGTH), key: textIn(key, MAX_ID_LENGTH) };
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
}

/** The period as links, and a form to show one model or one key only. */
export function UsageFilterForm({ filter, path, models, keys = [] }: UsageFilterFormProps) {
  const { days, model, key } = filter;
  const modelOptions = Object.fromEntries([['', 'All models'], ...models.map((id) => [id, id] as const)]);
  const keyOptions = Object.fromEntries([
    ['', 'All keys'],
    ['session', 'Playground (session)'],
    ...keys.map(({ id, name, prefix }) => [id, `${name} (${prefix}…)`] as const),
  ]);
  return (
    <div class="filters">
      <nav aria-label="Period" class="ranges">
        {RANGES.map((range) => (
          <a
            key={range}
            href={pathWith(path, { ...filter, days: range })}
            aria-current={range === days ? 'true' : undefined}
          >
            {range} days
          </a>
        ))}
      </nav>
      <FilterForm
        path={path}
        fields={[
          { type: 'hidden', name: 'days', value: days },
          { label: 'Model', name: 'model', type: 'select', options: modelOptions, value: model },
          { label: 'Key', name: 'key', type: 'select', options: keyOptions, value: key },
        ]}
      />
    </div>
  );
}
