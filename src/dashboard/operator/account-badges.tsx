import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import { stateOf } from '../../accounts/accounts/account-states.js';
import type { AccountRole } from '../../accounts/accounts/account-role.js';

const STATES = { active: ['Active', 'good'], disabled: ['Disabled', 'bad'] } as const;
export const ROLES: Readonly<Record<AccountRole, string>> = { member: 'Member', operator: 'Operator' };

/** The state of an account in one word. */
export function AccountStateBadge({ account }: { readonly account: Pick<ListedAccount, 'disabledAt'> }) {
  const [label, tone] = STATES[stateOf(account)];
  return <span class={`badge ${tone}`}>{label}</span>;
}
