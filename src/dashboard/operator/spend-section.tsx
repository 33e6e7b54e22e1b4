import { count } from '../format/numbers.js';
import { cost, decimalsOfColumn } from '../usage/sum-texts.js';
import { Moment } from '../format/times.js';
import { Notice } from '../parts/notice.js';
import { Table } from '../parts/table.js';
import { Figures } from '../usage/spend-figures.js';
import type { NamedOverview } from './account-list.js';
import { accountPath } from './account-path.js';
import type { AccountSpend } from './service-spend.js';

interface SpendSectionProps {
  readonly overview: NamedOverview | undefined;
  readonly hasPrices: boolean;
}

/** What all accounts together have spent, and the accounts that have spent most. */
export function SpendSection({ overview, hasPrices }: SpendSectionProps) {
  return (
    <section aria-labelledby="spend">
      <h2 id="spend">Spend of all accounts</h2>
      {overview === undefined ? (
        <Notice>The spend is not available yet. Reload the page in a moment.</Notice>
      ) : (
        <Spend overview={overview} hasPrices={hasPrices} />
      )}
    </section>
  );
}

function Spend({ overview, hasPrices }: { readonly overview: NamedOverview; readonly hasPrices: boolean }) {
  const { at, today, last30Days, highest, emails } = overview;
  const withCost = hasPrices || last30Days.costs.size > 0;
  const decimals = decimalsOfColumn(highest.map(({ sum }) => sum));
  const nameOf = ({ accountId: id }: AccountSpend) => {
    const email = emails.get(id);
    if (email !== undefined) return <a href={accountPath(id)}>{email}</a>;
    return (
      <>
        <code>{id}</code> <small>deleted</small>
      </>
    );
  };
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
          class="breaks"
          rows={highest}
          columns={[
            { title: 'Account', cell: nameOf },
            { title: 'Requests', isNumber: true, cell: ({ sum }) => count(sum.requests) },
            withCost && { title: 'Cost', isNumber: true, cell: ({ sum }) => cost(sum, decimals) },
          ]}
        />
      )}
      <p class="fine">
        As of <Moment at={at} withZone />. Updated once a minute. Days begin at midnight UTC. Deleted accounts are
        included.
      </p>
    </>
  );
}
