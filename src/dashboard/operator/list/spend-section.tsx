import { Moment } from '../../layout/moment.js';
import { cost, count, decimalsOfColumn } from '../../usage/number-text.js';
import { Figures } from '../../usage/spend-figures.js';
import { accountPath } from '../account-path.js';
import type { NamedOverview } from './account-list.js';

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
        <p class="notice" role="status">
          The spend is not available yet. Reload the page in a moment.
        </p>
      ) : (
        <Spend overview={overview} hasPrices={hasPrices} />
      )}
    </section>
  );
}

function Spend({ overview, hasPrices }: { readonly overview: NamedOverview; readonly hasPrices: boolean }) {
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
      {highest.length === 0 ? null : <HighestTable highest={highest} emails={emails} withCost={withCost} />}
      <p class="fine">
        As of <Moment at={at} /> UTC. Updated once a minute. Days begin at midnight UTC. Deleted accounts are included.
      </p>
    </>
  );
}

interface HighestTableProps extends Pick<NamedOverview, 'highest' | 'emails'> {
  readonly withCost: boolean;
}

function HighestTable({ highest, emails, withCost }: HighestTableProps) {
  const decimals = decimalsOfColumn(highest.map(({ sum }) => sum));
  const caption = withCost ? 'Highest spend, last 30 days' : 'Most requests, last 30 days';
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Account</th>
            <th scope="col" class="number">
              Requests
            </th>
            {withCost ? (
              <th scope="col" class="number">
                Cost
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {highest.map(({ accountId, sum }) => (
            <tr key={accountId}>
              <th scope="row" class="breaks">
                <AccountName id={accountId} emails={emails} />
              </th>
              <td class="number">{count(sum.requests)}</td>
              {withCost ? <td class="number">{cost(sum, decimals)}</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AccountName({ id, emails }: { readonly id: string; readonly emails: ReadonlyMap<string, string> }) {
  const email = emails.get(id);
  if (email !== undefined) return <a href={accountPath(id)}>{email}</a>;
  return (
    <>
      <code>{id}</code> <small>deleted</small>
    </>
  );
}
