import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import type { AccountRole } from '../../accounts/account/account-role.js';
import { stateOf } from '../../accounts/accounts/account-states.js';
import { Moment } from '../format/times.js';
import type { Fact } from '../parts/blocks.js';
import { choiceIn, textIn, type QueryValues } from '../parts/query.js';

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
          <Moment at={disabledAt} withZone />
        </>
      )}
    </>
  );
  return [
    ['Account ID', <code>{id}</code>],
    ['State', state],
    ['Tier', tier],
    ['Role', ROLES[role]],
    ['Created', <Moment at={createdAt} withZone />],
  ];
}
