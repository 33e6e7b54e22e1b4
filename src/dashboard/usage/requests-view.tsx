import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { StreamList } from '../../usage/reports/recent-streams.js';
import { FilterForm } from './filter-form.js';
import { RequestTable } from './request-table.js';
import { pathWith, type UsageFilter } from './usage-filter.js';

interface RequestsViewProps {
  readonly filter: UsageFilter;
  readonly list: StreamList;
  readonly models: readonly string[];
  readonly keys: readonly ListedApiKey[];
  readonly isFirstPage: boolean;
}

/** The page with the single requests of an account. */
export function RequestsView({ filter, list: { streams, next }, models, keys, isFirstPage }: RequestsViewProps) {
  return (
    <div class="usage">
      <h1>Requests</h1>
      <p>
        <a href={pathWith('/usage', filter)}>← Usage</a>
      </p>
      <FilterForm filter={filter} path="/usage/requests" models={models} keys={keys} />
      {streams.length === 0 ? (
        <p class="empty">No requests in this period.</p>
      ) : (
        <RequestTable streams={streams} keys={keys} />
      )}
      <nav class="pagination" aria-label="Pages">
        {isFirstPage ? null : <a href={pathWith('/usage/requests', filter)}>← Latest</a>}
        {next === undefined ? null : (
          <a rel="next" href={pathWith('/usage/requests', filter, { before: next.startedAt, id: next.id })}>
            Older →
          </a>
        )}
      </nav>
    </div>
  );
}
