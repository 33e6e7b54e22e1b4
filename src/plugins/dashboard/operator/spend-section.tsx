import { Notice, Section } from '../parts/blocks.js';
import { count, LocalTime } from '../numbers-and-times.js';
import { Table } from '../parts/table.js';
import { Figures, cost, type UsageSum } from '../usage/usage-sum.js';
import { type NamedOverview, AccountName } from './account-list.js';

interface SpendSectionProps {
  readonly overview: NamedOverview | undefined;
  readonly hasPrices: boolean;
}

/** The sums that the section shows. */
export function overviewSums(overview: NamedOverview | undefined): readonly UsageSum[] {
  if (overview === undefined) return [];
  return [overview.today, overview.last30Days, ...overview.highest.map(({ sum }) => sum)];
}

/** What all accounts together have spent, and the accounts that have spent most. */
export function SpendSection({ overview, hasPrices }: SpendSectionProps) {
  return (
    <Section id="spend" title="Spend of all accounts">
      {overview === undefined ? (
        <Notice>The spend is not available yet. Reload the page in a moment.</Notice>
      ) : (
        <Spend overview={overview} hasPrices={hasPrices} />
      )}
    </Section>
  );
}

function Spend({ overview, hasPrices }: SpendSectionProps & { readonly overview: NamedOverview }) {
  const { at, today, last30Days, highest, emails } = overview;
  const withCost = hasPrices || last30Days.costs.size > 0;
  return (
    <>
      <Figures
        figures={[
          ['Today', today],
          ['Last 30 days', last30Days],
        ]}
        withCost={withCost}
      />
      {highest.length === 0 ? null : (
        <Table
          caption={withCost ? 'Highest spend, last 30 days' : 'Most requests, last 30 days'}
          showsCaption
          rows={highest}
          columns={[
            { title: 'Account', cell: ({ accountId }) => <AccountName id={accountId} emails={emails} /> },
            { title: 'Requests', isNumber: true, cell: ({ sum }) => count(sum.requests) },
            withCost && { title: 'Cost', isNumber: true, cell: ({ sum }) => cost(sum) },
          ]}
        />
      )}
      <p class="fine">
        As of <LocalTime at={at} />. Updated once a minute. Days begin at midnight UTC. Deleted accounts are included.
      </p>
    </>
  );
}
