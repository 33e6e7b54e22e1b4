import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import { PageForm } from '../forms/page-form.js';
import { requestCount } from '../format/numbers.js';
import { SignNotes } from '../usage/sign-notes.js';
import { cost, type CostDecimals } from '../usage/sum-texts.js';
import { Moment } from '../format/times.js';
import { Table } from '../parts/table.js';
import type { UsageSum } from '../usage/usage-sum.js';
import type { PageSpend } from './account-list.js';
import { accountPath } from './account-path.js';
import { AccountStateBadge, ROLES } from './listed-account.js';

interface AccountTableProps {
  readonly operatorId: string;
  readonly accounts: readonly ListedAccount[];
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
export function AccountTable({ operatorId, accounts, spend, hasPrices, decimals }: AccountTableProps) {
  const sums = sumsOf(spend);
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
  const actionOn = ({ id, disabledAt }: ListedAccount) => {
    const form = { tone: 'quiet', describedBy: `account-${id}` } as const;
    if (id === operatorId) return null;
    if (disabledAt === null)
      return <PageForm {...form} method="get" action={accountPath(id, 'disable')} button="Disable" />;
    return <PageForm {...form} action={accountPath(id, 'enable')} accountId={operatorId} button="Enable" />;
  };
  return (
    <>
      <Table
        caption="Accounts"
        isCards
        rows={accounts}
        headId={({ id }) => `account-${id}`}
        isEnded={({ disabledAt }) => disabledAt !== null}
        columns={[
          { title: 'Email', cell: nameOf },
          { title: 'Tier', cell: ({ tier }) => tier },
          { title: 'State', cell: (account) => <AccountStateBadge account={account} /> },
          { title: 'Role', cell: ({ role }) => ROLES[role] },
          { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
          spend !== undefined && { title: 'Today', isNumber: true, cell: ({ id }) => spendOf(spend.today.get(id)) },
          spend !== undefined && {
            title: '30 days',
            isNumber: true,
            cell: ({ id }) => spendOf(spend.last30Days.get(id)),
          },
          { title: 'Actions', isActions: true, cell: actionOn },
        ]}
      />
      {hasPrices ? <SignNotes sums={sums} withCost /> : null}
    </>
  );
}
