import type { ListedAccount } from '../../../accounts/accounts/account-directory.js';
import { Moment } from '../../layout/moment.js';
import { AccountStateBadge, ROLES } from '../account-badges.js';

/** Shows the facts about an account to an operator. */
export function AccountFacts({ account }: { readonly account: ListedAccount }) {
  const { id, tier, role, createdAt, disabledAt } = account;
  return (
    <dl class="facts">
      <dt>Account ID</dt>
      <dd>
        <code>{id}</code>
      </dd>
      <dt>State</dt>
      <dd>
        <AccountStateBadge account={account} />
        {disabledAt === null ? null : (
          <>
            {' since '}
            <Moment at={disabledAt} /> UTC
          </>
        )}
      </dd>
      <dt>Tier</dt>
      <dd>{tier}</dd>
      <dt>Role</dt>
      <dd>{ROLES[role]}</dd>
      <dt>Created</dt>
      <dd>
        <Moment at={createdAt} /> UTC
      </dd>
    </dl>
  );
}
