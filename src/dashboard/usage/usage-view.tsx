import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { RefusedRequest } from '../../observability/refusals/refused-request.js';
import type { ListedStream } from '../../usage/reports/recent-streams.js';
import { Notice } from '../parts/notice.js';
import { pathWith } from '../parts/query.js';
import { budgetCosts, BudgetSection, type BudgetSectionProps } from './budget-section.js';
import { LimitsSection, type LimitsSectionProps } from './limits-section.js';
import { RefusedTable } from './refused-table.js';
import { REFUSED_PATH } from './refused-view.js';
import { RequestTable, streamCosts } from './request-table.js';
import { FilterForm, type UsageFilter } from './usage-filter.js';
import { decimalsOf, type CostDecimals } from './sum-texts.js';
import { UsageSummary } from './usage-summary.js';
import type { UsageTotals } from './usage-totals.js';

/** The figures of a period, and what chooses them. */
export interface UsageFigures {
  readonly filter: UsageFilter;
  /** The models that the filter offers. */
  readonly models: readonly string[];
  /** `YYYY-MM-DD`, oldest first. */
  readonly days: readonly string[];
  /** `undefined` when the totals cannot be read. */
  readonly totals: UsageTotals | undefined;
  readonly keys: readonly ListedApiKey[] | undefined;
  /** Whether at least one model has a price. */
  readonly hasPrices: boolean;
  readonly decimals: CostDecimals;
}

interface UsageViewProps
  extends Omit<UsageFigures, 'decimals'>, LimitsSectionProps, Pick<BudgetSectionProps, 'budget'> {
  /** The latest requests. `undefined` when they cannot be read. */
  readonly latest: readonly ListedStream[] | undefined;
  /** The latest refused requests. `undefined` when they cannot be read. */
  readonly refused: readonly RefusedRequest[] | undefined;
}

/** The page with the limits and the usage of an account. */
export function UsageView(props: UsageViewProps) {
  const { filter, latest, refused, keys, tier, state, budget, totals } = props;
  const decimals = decimalsOf([...(totals?.costs ?? []), ...budgetCosts(budget), ...streamCosts(latest ?? [])]);
  return (
    <div class="usage">
      <h1>Usage</h1>
      <LimitsSection tier={tier} state={state} />
      <BudgetSection budget={budget} decimals={decimals} />
      <UsageSection {...props} decimals={decimals} path="/usage" heading="Your usage" download="/usage/export.csv">
        <p>
          Chat in the <a href="/playground">playground</a>, or create a key under{' '}
          <a href="/settings/api-keys">API keys</a> and call the API from your code. Each request appears here a moment
          after its answer ends.
        </p>
      </UsageSection>
      {latest === undefined || latest.length === 0 ? null : (
        <section aria-labelledby="latest">
          <div class="section-head">
            <h2 id="latest">Latest requests</h2>
            <a href={pathWith('/usage/requests', { ...filter })}>All requests</a>
          </div>
          <RequestTable streams={latest} keys={keys} decimals={decimals} />
        </section>
      )}
      {refused === undefined || refused.length === 0 ? null : (
        <section aria-labelledby="refused">
          <div class="section-head">
            <h2 id="refused">Refused requests</h2>
            <a href={REFUSED_PATH}>All refused requests</a>
          </div>
          <RefusedTable refused={refused} keys={keys} />
        </section>
      )}
    </div>
  );
}

interface UsageSectionProps extends UsageFigures {
  readonly heading: string;
  /** The path of the page. */
  readonly path: string;
  /** The path of the figures as CSV. */
  readonly download?: string;
  /** What to do if there is no usage. */
  readonly children?: ComponentChildren;
}

/** The filter of a usage page, and the figures that pass it. */
export function UsageSection({ heading, path, download, children, ...figures }: UsageSectionProps) {
  const { filter, models, days, totals, keys, hasPrices, decimals } = figures;
  return (
    <section aria-labelledby="used">
      <div class="section-head">
        <h2 id="used">{heading}</h2>
        {download === undefined ? null : (
          <a href={pathWith(download, { ...filter })} download>
            Download CSV
          </a>
        )}
      </div>
      <FilterForm filter={filter} path={path} models={models} keys={keys} />
      <p class="fine">
        {`${days[0] ?? ''} to ${days.at(-1) ?? ''}, today included. Days begin and end at midnight UTC.`}
      </p>
      {totals === undefined ? (
        <Notice>Usage is unavailable right now. No data is lost. Reload the page later.</Notice>
      ) : totals.total.requests > 0 ? (
        <UsageSummary totals={totals} days={days} keys={keys} hasPrices={hasPrices} decimals={decimals} />
      ) : (
        <div class="empty-state">
          <p>
            <strong>No usage in this period.</strong>
          </p>
          {children}
        </div>
      )}
    </section>
  );
}
