import type { ComponentChildren } from 'preact';
import { Notice, Section } from '../parts/blocks.js';
import { pathWith } from '../parts/query.js';
import { UsageFilterForm, type UsageFilterFormProps } from './usage-filter.js';
import { UsageSummary, type UsageSummaryProps } from './usage-summary.js';
import type { UsageTotals } from './usage-totals.js';

interface UsageSectionProps extends UsageFilterFormProps, Omit<UsageSummaryProps, 'totals'> {
  readonly title: string;
  /** `undefined` when the totals cannot be read. */
  readonly totals: UsageTotals | undefined;
  /** The path of the figures as CSV. */
  readonly download?: string;
  /** What to do if there is no usage. */
  readonly children?: ComponentChildren;
}

/** The filter of a usage page, and the figures that pass it. */
export function UsageSection({ title, download, children, filter, path, models, ...figures }: UsageSectionProps) {
  const { days, totals, keys } = figures;
  const link =
    download === undefined ? undefined : (
      <a href={pathWith(download, { ...filter })} download>
        Download CSV
      </a>
    );
  return (
    <Section id="used" title={title} link={link}>
      <UsageFilterForm filter={filter} path={path} models={models} keys={keys} />
      <p class="fine">
        {`${days[0] ?? ''} to ${days.at(-1) ?? ''}, today included. Days begin and end at midnight UTC.`}
      </p>
      {totals === undefined ? (
        <Notice>Usage is unavailable right now. No data is lost. Reload the page later.</Notice>
      ) : totals.total.requests > 0 ? (
        <UsageSummary {...figures} totals={totals} />
      ) : (
        <div class="empty-state">
          <p>
            <strong>No usage in this period.</strong>
          </p>
          {children}
        </div>
      )}
    </Section>
  );
}
