import type { ListedAccount } from '../../../accounts/accounts/account-directory.js';
import { MadeFor } from '../../forms/made-for.js';
import { Moment } from '../../layout/moment.js';
import { cost, decimalsOfColumn, requestCount, type CostDecimals } from '../../usage/number-text.js';
import { UsageSum } from '../../usage/usage-sum.js';
import { AccountStateBadge, ROLES } from '../account-badges.js';
import { accountPath } from '../account-path.js';
import type { PageSpend } from './account-list.js';

interface AccountTableProps {
  readonly operatorId: string;
  readonly accounts: readonly ListedAccount[];
  /** Without it, the table has no columns with the spend. */
  readonly spend: PageSpend | undefined;
  readonly hasPrices: boolean;
}

const NOTHING = new UsageSum();

/** A table with one row for each account. The roles are explicit because the stylesheet changes the table layout on phones. */
export function AccountTable({ operatorId, accounts, spend, hasPrices }: AccountTableProps) {
  const decimals =
    spend && hasPrices ? decimalsOfColumn([...spend.today.values(), ...spend.last30Days.values()]) : undefined;
  const titles = ['Email', 'Tier', 'State', 'Role', 'Created'];
  return (
    <table class="cards" role="table" aria-label="Accounts">
      <thead role="rowgroup">
        <tr role="row">
          {titles.map((title) => (
            <th key={title} scope="col" role="columnheader">
              {title}
            </th>
          ))}
          {spend === undefined
            ? null
            : ['Today', '30 days'].map((title) => (
                <th key={title} scope="col" role="columnheader" class="number">
                  {title}
                </th>
              ))}
          <th scope="col" role="columnheader">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {accounts.map((account) => (
          <AccountRow key={account.id} account={account} operatorId={operatorId} spend={spend} decimals={decimals} />
        ))}
      </tbody>
    </table>
  );
}

interface AccountRowProps extends Pick<AccountTableProps, 'operatorId' | 'spend'> {
  readonly account: ListedAccount;
  /** The decimals of the costs. `undefined` shows the number of requests instead. */
  readonly decimals: CostDecimals | undefined;
}

function AccountRow({ account, operatorId, spend, decimals }: AccountRowProps) {
  const { id, email, tier, role, createdAt, disabledAt } = account;
  return (
    <tr role="row" class={disabledAt === null ? '' : 'ended'}>
      <th scope="row" role="rowheader" id={`account-${id}`}>
        <a href={accountPath(id)}>{email}</a>
        {id === operatorId ? <small> (you)</small> : null}
      </th>
      <td role="cell" data-label="Tier">
        {tier}
      </td>
      <td role="cell" data-label="State">
        <AccountStateBadge account={account} />
      </td>
      <td role="cell" data-label="Role">
        {ROLES[role]}
      </td>
      <td role="cell" data-label="Created">
        <Moment at={createdAt} />
      </td>
      {spend === undefined ? null : (
        <>
          <td role="cell" data-label="Today" class="number">
            {spendText(spend.today.get(id), decimals)}
          </td>
          <td role="cell" data-label="30 days" class="number">
            {spendText(spend.last30Days.get(id), decimals)}
          </td>
        </>
      )}
      <td role="cell">
        {id === operatorId ? null : (
          <div class="row-actions">
            {disabledAt === null ? <Disable id={id} /> : <Enable id={id} by={operatorId} />}
          </div>
        )}
      </td>
    </tr>
  );
}

function spendText(sum: UsageSum = NOTHING, decimals: CostDecimals | undefined) {
  if (sum.requests === 0) return <span class="none">–</span>;
  if (decimals !== undefined) return cost(sum, decimals);
  return requestCount(sum.requests);
}

/** A button that opens the confirmation page. */
function Disable({ id }: { readonly id: string }) {
  return (
    <form method="get" action={accountPath(id, 'disable')}>
      <button class="quiet" aria-describedby={`account-${id}`}>
        Disable
      </button>
    </form>
  );
}

function Enable({ id, by }: { readonly id: string; readonly by: string }) {
  return (
    <form method="post" action={accountPath(id, 'enable')}>
      <MadeFor accountId={by} />
      <button class="quiet" aria-describedby={`account-${id}`}>
        Enable
      </button>
    </form>
  );
}
