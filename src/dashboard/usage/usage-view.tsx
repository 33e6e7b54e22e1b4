import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { LimitsSection, type LimitsSectionProps } from './limits-section.js';
import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { FilterForm } from './filter-form.js';
import { RequestTable } from './request-table.js';
import { pathWith, type UsageFilter } from './usage-filter.js';
import { UsageSummary } from './usage-summary.js';
import type { UsageTotals } from './usage-totals.js';

export interface UsageViewProps extends LimitsSectionProps {
  readonly filter: UsageFilter;
  /** The models that the filter offers. */
  readonly models: readonly string[];
  /** The latest requests. `undefined` when they cannot be read. */
  readonly latest: readonly ListedStream[] | undefined;
  /** `YYYY-MM-DD`, oldest first. */
  readonly days: readonly string[];
  /** `undefined` when the totals cannot be read. */
  readonly totals: UsageTotals | undefined;
  readonly keys: readonly ListedApiKey[] | undefined;
  /** Whether at least one model has a price. */
  readonly hasPrices: boolean;
}

/** The page with the limits and the usage of an account. */
export function UsageView(props: UsageViewProps) {
  const { filter, models, latest, days, totals, keys, hasPrices, tier, state } = props;
  return (
    <div class="usage">
      <h1>Usage</h1>
      <section aria-labelledby="used">
        <div class="section-head">
          <h2 id="used">Your usage</h2>
          <a href={pathWith('/usage/export.csv', filter)} download>
            Download CSV
          </a>
        </div>
        <FilterForm filter={filter} path="/usage" models={models} keys={keys} />
        <p class="fine">
          {`${days[0] ?? ''} to ${days.at(-1) ?? ''}, today included. Days begin and end at midnight UTC.`}
        </p>
        <Used totals={totals} days={days} keys={keys} hasPrices={hasPrices} />
      </section>
      {latest === undefined || latest.length === 0 ? null : (
        <section aria-labelledby="latest">
          <div class="section-head">
            <h2 id="latest">Latest requests</h2>
            <a href={pathWith('/usage/requests', filter)}>All requests</a>
          </div>
          <RequestTable streams={latest} keys={keys} />
        </section>
      )}
      <LimitsSection tier={tier} state={state} />
    </div>
  );
}

function Used({ totals, days, keys, hasPrices }: Pick<UsageViewProps, 'totals' | 'days' | 'keys' | 'hasPrices'>) {
  if (totals === undefined) {
    return (
      <p class="notice" role="status">
        Usage is unavailable right now. No data is lost. Reload the page later.
      </p>
    );
  }
  if (totals.total.requests > 0) {
    return <UsageSummary totals={totals} days={days} keys={keys} hasPrices={hasPrices} />;
  }
  return (
    <div class="empty-state">
      <p>
        <strong>No usage in this period</strong>
      </p>
      <p>
        Chat in the <a href="/playground">playground</a>, or create a key under{' '}
        <a href="/settings/api-keys">API keys</a> and call the API from your code. Each request appears here a moment
        after its answer ends.
      </p>
    </div>
  );
}
