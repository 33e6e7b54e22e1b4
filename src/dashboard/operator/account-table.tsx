import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import { requestCount } from '../format/numbers.js';
import { Moment } from '../format/times.js';
import { Table, type RowAction } from '../parts/table.js';
import { accountPath } from '../paths.js';
import { SignNotes } from '../usage/sign-notes.js';
import { cost, type CostDecimals } from '../usage/sum-texts.js';
import type { UsageSum } from '../usage/usage-sum.js';
import type { PageSpend } from './account-list.js';
import { AccountStateBadge, ROLES } from './listed-account.js';

interface AccountTableProps {
  readonly operatorId: string;
  readonly accounts: readonly ListedAccount[];
  /** What the page shows without accounts. */
  readonly empty: string;
  /** Without it, the table has no columns with the spend. */
  readonly spend: PageSpend | undefined;
  readonly hasPrices: boolean;
  readonly decimals: CostDecimals;
}

/** The sums that the table shows. */
export function sumsOf(spend: PageSpend | undefined): readonly UsageSum[] {
  return spend === undefined ? [] : [...spend.today.values(), ...spend.last30Days.values()];
}

/** A table with one row for each account. */
export function AccountTable({ operatorId, accounts, empty, spend, hasPrices, decimals }: AccountTableProps) {
  const spendOf = (sum: UsageSum | undefined) => {
    if (sum === undefined || sum.requests === 0) return <span class="none">–</span>;
    return hasPrices ? cost(sum, decimals) : requestCount(sum.requests);
  };
  const nameOf = ({ id, email }: ListedAccount) => (
    <>
      <a href={accountPath(id)}>{email}</a>
      {id === operatorId ? <small> (you)</small> : null}
    </>
  );
  const actionsOn = ({ id, disabledAt }: ListedAccount): readonly RowAction[] => {
    if (id === operatorId) return [];
    if (disabledAt === null) return [{ label: 'Disable', path: accountPath(id, 'disable') }];
    return [{ label: 'Enable', path: accountPath(id, 'enable'), accountId: operatorId }];
  };
  return (
    <>
      <Table
        caption="Accounts"
        isCards
        rows={accounts}
        empty={empty}
        isEnded={({ disabledAt }) => disabledAt !== null}
        columns={[
          { title: 'Email', cell: nameOf },
          { title: 'Tier', cell: ({ tier }) => tier },
          { title: 'State', cell: (account) => <AccountStateBadge account={account} /> },
          { title: 'Role', cell: ({ role }) => ROLES[role] },
          { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
          spend && { title: 'Today', isNumber: true, cell: ({ id }) => spendOf(spend.today.get(id)) },
          spend && { title: '30 days', isNumber: true, cell: ({ id }) => spendOf(spend.last30Days.get(id)) },
        ]}
        actions={{ headId: ({ id }) => `account-${id}`, of: actionsOn }}
      />
      {hasPrices ? <SignNotes sums={sumsOf(spend)} withCost /> : null}
    </>
  );
}
