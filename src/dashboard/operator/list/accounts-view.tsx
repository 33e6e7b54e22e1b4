import type { TierConfig } from '../../../config/config.js';
import { Pagination } from '../../layout/pagination.js';
import { count as countText } from '../../usage/number-text.js';
import { ACCOUNTS_PATH } from '../account-path.js';
import type { AccountPage, NamedOverview } from './account-list.js';
import { accountQuery, type AccountListFilter } from './account-list-filter.js';
import { AccountFilterForm } from './account-filter-form.js';
import { AccountTable } from './account-table.js';
import { SpendSection } from './spend-section.js';
import { TierTable } from './tier-table.js';

export interface AccountsViewProps extends AccountPage {
  readonly operatorId: string;
  readonly filter: AccountListFilter;
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
  const { operatorId, filter, accounts, count, shown, spend, overview, tiers, defaultTier, countByTier, hasPrices } =
    props;
  return (
    <div class="usage">
      <h1>Accounts</h1>
      <SpendSection overview={overview} hasPrices={hasPrices} />
      <section aria-labelledby="accounts">
        <h2 id="accounts">All accounts</h2>
        <AccountFilterForm filter={filter} tiers={[...countByTier.keys()]} />
        <p class="fine">
          {count === 1 ? '1 account' : `${countText(count)} accounts`}, newest first. Times are in UTC.
        </p>
        {accounts.length === 0 ? (
          <p class="empty">No account matches.</p>
        ) : (
          <AccountTable operatorId={operatorId} accounts={accounts} spend={spend} hasPrices={hasPrices} />
        )}
        <Pagination pathOf={(page) => `${ACCOUNTS_PATH}?${accountQuery(filter, page)}`} shown={shown} />
      </section>
      <TierTable tiers={tiers} defaultTier={defaultTier} countByTier={countByTier} />
    </div>
  );
}
