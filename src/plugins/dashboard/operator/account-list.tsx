import { Inject, Injectable } from '@nestjs/common';
import {
  type AccountRole,
  type ListedAccount,
  stateOf,
  AccountDirectory,
  type AccountPosition,
  AccountsService,
  type AccountPage as DirectoryPage,
} from '../../../plugin-api/core/accounts.js';
import { type Clock, CLOCK, utcDay } from '../../../plugin-api/core/common.js';
import { type BudgetState, ListedBudgets, UsageReports } from '../../../plugin-api/core/usage.js';
import { optionalPart } from '../pages.js';
import type { Fact } from '../parts/blocks.js';
import { PAGE_SIZE } from '../parts/lists.js';
import { LocalTime, countOf } from '../numbers-and-times.js';
import { Table, type RowAction } from '../parts/table.js';
import { choiceIn, textIn, type QueryValues, accountPath } from '../paths.js';
import { BudgetCell } from '../usage/limits-section.js';
import { cost, sumIn, UsageSum } from '../usage/usage-sum.js';
import { lastDays } from '../usage/usage-filter.js';
import { ServiceSpend, type SpendOverview } from './service-spend.js';

export const ACCOUNT_STATES = { active: ['Active', 'good'], disabled: ['Disabled', 'bad'] } as const;
export const ROLES: Readonly<Record<AccountRole, string>> = { member: 'Member', operator: 'Operator' };

/** The accounts that the list shows. */
export interface AccountListFilter {
  /** A part of the address, or a whole id. */
  readonly search: string | undefined;
  readonly state: keyof typeof ACCOUNT_STATES | undefined;
  readonly tier: string | undefined;
}

export function accountFilterIn({ search, state, tier }: QueryValues): AccountListFilter {
  return { search: textIn(search, 254), state: choiceIn(state, ACCOUNT_STATES), tier: textIn(tier, 100) };
}

/** The state of an account in one word. */
export function AccountStateBadge({ account }: { readonly account: Pick<ListedAccount, 'disabledAt'> }) {
  const [label, tone] = ACCOUNT_STATES[stateOf(account)];
  return <span class={`badge ${tone}`}>{label}</span>;
}

/** The facts about an account for an operator. */
export function accountFacts(account: ListedAccount): readonly Fact[] {
  const { id, tier, role, createdAt, disabledAt } = account;
  const state = (
    <>
      <AccountStateBadge account={account} />
      {disabledAt === null ? null : (
        <>
          {' since '}
          <LocalTime at={disabledAt} />
        </>
      )}
    </>
  );
  return [
    ['Account ID', <code>{id}</code>],
    ['State', state],
    ['Tier', tier],
    ['Role', ROLES[role]],
    ['Created', <LocalTime at={createdAt} />],
  ];
}

/** The addresses of accounts by id. A deleted account has none. */
export type Emails = ReadonlyMap<string, string>;

/** The address of an account as a link to its page. Only the id, if the account was deleted. */
export function AccountName({ id, emails }: { readonly id: string; readonly emails: Emails }) {
  const email = emails.get(id);
  if (email !== undefined) {
    return (
      <a href={accountPath(id)}>
        {/* A long address breaks between its parts, and not inside a word. */}
        {email.split(/(?<=[.@])/).flatMap((part, index) => (index === 0 ? [part] : [<wbr key={index} />, part]))}
      </a>
    );
  }
  return (
    <>
      <code>{id}</code> <small>deleted</small>
    </>
  );
}

/** The usage by the id of the account. */
type SumByAccount = ReadonlyMap<string, UsageSum>;

/** What the accounts of one page have spent. */
interface PageSpend {
  readonly today: SumByAccount;
  readonly last30Days: SumByAccount;
}

interface AccountPage extends DirectoryPage {
  /** `undefined` when the sums cannot be read. */
  readonly spend: PageSpend | undefined;
  /** The budgets by the id of the account. `undefined` when they cannot be read. */
  readonly budgets: ReadonlyMap<string, BudgetState> | undefined;
}

/** The overview with the addresses of its accounts by id. A deleted account has none. */
export interface NamedOverview extends SpendOverview {
  readonly emails: ReadonlyMap<string, string>;
}

/** Reads what the page with all accounts shows. */
@Injectable()
export class AccountList {
  constructor(
    private readonly directory: AccountDirectory,
    private readonly accounts: AccountsService,
    private readonly reports: UsageReports,
    private readonly budgets: ListedBudgets,
    private readonly total: ServiceSpend,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @param after see {@link AccountDirectory.page}. */
  async page(filter: AccountListFilter, after: AccountPosition | undefined): Promise<AccountPage> {
    const page = await this.directory.page(filter, after, PAGE_SIZE);
    const spend = await optionalPart(this.spendOf(page.accounts.map(({ id }) => id)));
    const budgets = await optionalPart(this.budgets.ofAccounts(page.accounts));
    return { ...page, spend, budgets };
  }

  /** Returns `undefined` when the sums cannot be read, or not yet. */
  async overview(): Promise<NamedOverview | undefined> {
    const overview = await optionalPart(this.total.overview());
    const ids = overview?.highest.map(({ accountId }) => accountId) ?? [];
    return overview && { ...overview, emails: await this.accounts.emailsOf(ids) };
  }

  private async spendOf(ids: readonly string[]): Promise<PageSpend> {
    const day = utcDay(this.now());
    const { from, to } = lastDays(30, this.now());
    const today = new Map<string, UsageSum>();
    const last30Days = new Map<string, UsageSum>();
    for (const id of ids) {
      for await (const rows of this.reports.pages(from, to, id)) {
        for (const row of rows) {
          sumIn(last30Days, id).addRow(row);
          if (row.day === day) sumIn(today, id).addRow(row);
        }
      }
    }
    return { today, last30Days };
  }
}

interface AccountTableProps {
  readonly operatorId: string;
  readonly accounts: readonly ListedAccount[];
  /** What the page shows without accounts. */
  readonly empty: string;
  /** Without it, the table has no columns with the spend. */
  readonly spend: PageSpend | undefined;
  /** The table has a column with budgets if there are any. */
  readonly budgets: AccountPage['budgets'];
  readonly hasPrices: boolean;
}

/** The sums that the table shows. */
export function sumsOf(spend: PageSpend | undefined): readonly UsageSum[] {
  return spend === undefined ? [] : [...spend.today.values(), ...spend.last30Days.values()];
}

/** A table with one row for each account. */
export function AccountTable({ operatorId, accounts, empty, spend, budgets, hasPrices }: AccountTableProps) {
  const spendOf = (sum: UsageSum | undefined) => {
    if (sum === undefined || sum.requests === 0) return <span class="none">–</span>;
    return hasPrices ? cost(sum) : countOf(sum.requests, 'request');
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
        { title: 'Created', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
        spend && { title: 'Today', isNumber: true, cell: ({ id }) => spendOf(spend.today.get(id)) },
        spend && { title: '30 days', isNumber: true, cell: ({ id }) => spendOf(spend.last30Days.get(id)) },
        budgets !== undefined &&
          budgets.size > 0 && { title: 'Budget', cell: ({ id }) => <BudgetCell budget={budgets.get(id)} /> },
      ]}
      actions={{ headId: ({ id }) => `account-${id}`, of: actionsOn }}
    />
  );
}
