import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { RANGES } from './usage-days.js';
import { pathWith, type UsageFilter } from './usage-filter.js';

export interface FilterFormProps {
  readonly filter: UsageFilter;
  /** The path of the page. */
  readonly path: string;
  /** The models that the user can choose. */
  readonly models: readonly string[];
  readonly keys: readonly ListedApiKey[] | undefined;
}

/** The period as links, and a form to show one model or one key only. The address of the page has the choice. */
export function FilterForm({ filter, path, models, keys = [] }: FilterFormProps) {
  const { range, model, key } = filter;
  const known = model === undefined || models.includes(model) ? models : [model, ...models];
  return (
    <div class="filters">
      <nav aria-label="Period" class="ranges">
        {RANGES.map((other) => (
          <a
            key={other}
            href={pathWith(path, { ...filter, range: other })}
            aria-current={other === range ? 'true' : undefined}
          >
            {other} days
          </a>
        ))}
      </nav>
      <form method="get" action={path} class="filter-form">
        <input type="hidden" name="days" value={range} />
        <div>
          <label for="filter-model">Model</label>
          <select id="filter-model" name="model">
            <option value="">All models</option>
            {known.map((id) => (
              <option key={id} value={id} selected={id === model}>
                {id}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="filter-key">Key</label>
          <select id="filter-key" name="key">
            <option value="">All keys</option>
            <option value="session" selected={key === 'session'}>
              Playground (session)
            </option>
            {keys.map(({ id, name, prefix }) => (
              <option key={id} value={id} selected={id === key}>
                {name} ({prefix}…)
              </option>
            ))}
          </select>
        </div>
        <button class="quiet">Apply</button>
      </form>
    </div>
  );
}
