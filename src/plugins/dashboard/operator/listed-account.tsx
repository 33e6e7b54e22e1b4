import { type AccountRole, type ListedAccount, stateOf } from '../../../plugin-api/core/accounts.js';
import { LocalTime } from '../format/times.js';
import type { Fact } from '../parts/blocks.js';
import { choiceIn, textIn, type QueryValues } from '../parts/query.js';
import { accountPath } from '../paths.js';

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
