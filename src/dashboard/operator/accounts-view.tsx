import type { Invitation } from '../../accounts/links/invitation.entity.js';
import type { TierConfig } from '../../config/config.js';
import { PageForm } from '../forms/page-form.js';
import { count } from '../format/numbers.js';
import { positionQuery } from '../parts/list-position.js';
import { OlderLinks } from '../parts/older-links.js';
import { Notice } from '../parts/notice.js';
import { pathWith } from '../parts/query.js';
import type { AccountPage, NamedOverview } from './account-list.js';
import { accountPath, ACCOUNTS_PATH } from './account-path.js';
import { AccountTable, sumsOf } from './account-table.js';
import { INVITE_PATH } from './links/invitation-path.js';
import { OPERATOR_KEYS_PATH } from './operator-keys/operator-keys-path.js';
import { InvitationsSection } from './links/invitations-section.js';
import type { AccountListFilter } from './listed-account.js';
import { overviewSums, SpendSection } from './spend-section.js';
import { decimalsOfSums } from '../usage/sum-texts.js';
import { TierTable } from './tier-table.js';

const STATES = { '': 'All states', active: 'Active', disabled: 'Disabled' } as const;

interface AccountsViewProps extends AccountPage {
  readonly operatorId: string;
  /** What was changed just now. */
  readonly done: string | undefined;
  /** Whether accounts can have passwords. Otherwise nobody can be invited. */
  readonly hasPasswords: boolean;
  /** The open invitations. `undefined` when they cannot be read. */
  readonly invitations: readonly Invitation[] | undefined;
  readonly filter: AccountListFilter;
  readonly isFirstPage: boolean;
  /** `undefined` when the sums cannot be read, or not yet. */
  readonly overview: NamedOverview | undefined;
  readonly tiers: readonly TierConfig[];
  readonly defaultTier: TierConfig;
  /** The number of accounts by tier, also of tiers that the configuration no longer has. */
  readonly countByTier: ReadonlyMap<string, number>;
  /** Whether at least one model has a price. */
  readonly hasPrices: boolean;
}

/** The page of an operator with all accounts. */
export function AccountsView(props: AccountsViewProps) {
  const { operatorId, filter, accounts, next, isFirstPage, spend, overview } = props;
  const { tiers, defaultTier, countByTier, hasPrices } = props;
  const { search = '', state, tier } = filter;
  const decimals = decimalsOfSums([...overviewSums(overview), ...sumsOf(spend)]);
  const isEveryAccount = Object.values(filter).every((value) => value === undefined);
  const tierOptions = { '': 'All tiers', ...Object.fromEntries([...countByTier.keys()].map((name) => [name, name])) };
  return (
    <div class="usage">
      <h1>Accounts</h1>
      <Notice tone="good">{props.done}</Notice>
      <p class="actions">
        {props.hasPasswords ? (
          <a href={INVITE_PATH} role="button">
            Invite
          </a>
        ) : null}
        <a href={accountPath('new')}>New account</a>
        <a href={OPERATOR_KEYS_PATH}>Operator keys</a>
      </p>
      <SpendSection overview={overview} hasPrices={hasPrices} decimals={decimals} />
      <section aria-labelledby="accounts">
        <h2 id="accounts">All accounts</h2>
        <PageForm
          method="get"
          action={ACCOUNTS_PATH}
          layout="row"
          fields={[
            {
              label: 'Search',
              name: 'search',
              type: 'search',
              value: search,
              maxLength: 254,
              placeholder: 'email or account ID',
            },
            { label: 'State', name: 'state', type: 'select', options: STATES, value: state },
            { label: 'Tier', name: 'tier', type: 'select', options: tierOptions, value: tier },
          ]}
          button="Apply"
          tone="quiet"
        />
        <p class="fine">
          {isEveryAccount ? `${accountCount(countByTier)}, newest first.` : 'Newest first.'} Times are in UTC.
        </p>
        {accounts.length === 0 ? (
          <p class="empty">
            {next === undefined ? 'No account matches.' : 'None of the newest accounts match. Look at older accounts.'}
          </p>
        ) : (
          <AccountTable
            operatorId={operatorId}
            accounts={accounts}
            spend={spend}
            hasPrices={hasPrices}
            decimals={decimals}
          />
        )}
        <OlderLinks
          latest={isFirstPage ? undefined : pathWith(ACCOUNTS_PATH, { ...filter })}
          older={next && pathWith(ACCOUNTS_PATH, { ...filter, ...positionQuery(next) })}
        />
      </section>
      <InvitationsSection operatorId={operatorId} invitations={props.invitations ?? []} />
      <TierTable tiers={tiers} defaultTier={defaultTier} countByTier={countByTier} />
    </div>
  );
}

function accountCount(countByTier: ReadonlyMap<string, number>): string {
  const all = [...countByTier.values()].reduce((sum, each) => sum + each, 0);
  return all === 1 ? '1 account' : `${count(all)} accounts`;
}
