import type { ListedAccount } from '../../../accounts/accounts/account-directory.js';
import type { ListedApiKey } from '../../../accounts/api-keys/api-keys.service.js';
import type { KeySpend } from '../../api-keys/key-spend.js';
import { KeyTable } from '../../api-keys/key-table.js';
import type { FormProblems } from '../../forms/field-problems.js';
import { Done } from '../../forms/notice.js';
import type { PageOfMany } from '../../layout/page-of-many.js';
import { Pagination } from '../../layout/pagination.js';
import { FilterForm } from '../../usage/filter-form.js';
import { pathWith, type UsageFilter } from '../../usage/usage-filter.js';
import { UsageSummary } from '../../usage/usage-summary.js';
import type { UsageTotals } from '../../usage/usage-totals.js';
import { accountPath, ACCOUNTS_PATH } from '../account-path.js';
import { AccountFacts } from './account-facts.js';
import { ManageForms } from './manage-forms.js';

export interface AccountViewProps {
  readonly account: ListedAccount;
  readonly operatorId: string;
  /** The names of the tiers of the configuration. */
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  /** All keys of the account, in the order of the list. */
  readonly keys: readonly ListedApiKey[];
  readonly shownKeys: PageOfMany;
  readonly keysPerPage: number;
  readonly spend: KeySpend | undefined;
  readonly now: number;
  readonly filter: UsageFilter;
  readonly models: readonly string[];
  /** `YYYY-MM-DD`, oldest first. */
  readonly days: readonly string[];
  /** `undefined` when the totals cannot be read. */
  readonly totals: UsageTotals | undefined;
  readonly hasPrices: boolean;
  readonly done?: string | undefined;
  readonly problems?: FormProblems;
}

/** The page of an operator about one account. */
export function AccountView(props: AccountViewProps) {
  const { account, done } = props;
  return (
    <div class="usage">
      <h1 class="breaks">{account.email}</h1>
      <p>
        <a href={ACCOUNTS_PATH}>← Accounts</a>
      </p>
      {done === undefined ? null : <Done>{done}</Done>}
      <section class="managed">
        <AccountFacts account={account} />
        <ManageForms {...props} />
      </section>
      <Keys {...props} />
      <Usage {...props} />
    </div>
  );
}

function Usage({ account, filter, models, keys, days, totals, hasPrices }: AccountViewProps) {
  return (
    <section aria-labelledby="used">
      <h2 id="used">Usage</h2>
      <FilterForm filter={filter} path={accountPath(account.id)} models={models} keys={keys} />
      <p class="fine">
        {`${days[0] ?? ''} to ${days.at(-1) ?? ''}, today included. Days begin and end at midnight UTC.`}
      </p>
      {totals === undefined ? (
        <p class="notice" role="status">
          Usage is unavailable right now. No data is lost. Reload the page later.
        </p>
      ) : totals.total.requests === 0 ? (
        <p class="empty">No usage in this period.</p>
      ) : (
        <UsageSummary totals={totals} days={days} keys={keys} hasPrices={hasPrices} />
      )}
    </section>
  );
}

function Keys({ account: { id }, keys, shownKeys, keysPerPage, spend, now, filter }: AccountViewProps) {
  const start = (shownKeys.number - 1) * keysPerPage;
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      {keys.length === 0 ? (
        <p class="empty">No keys yet.</p>
      ) : (
        <>
          <KeyTable
            keys={keys.slice(start, start + keysPerPage)}
            now={now}
            spend={spend}
            usageOf={(keyId) => pathWith(accountPath(id), { range: 30, model: undefined, key: keyId })}
            actionsOn={(keyId) => [{ label: 'Revoke', path: accountPath(id, `keys/${keyId}/revoke`) }]}
          />
          <p class="fine">All times are in UTC. “Last used” can be up to a minute late.</p>
        </>
      )}
      <Pagination
        pathOf={(page) => `${pathWith(accountPath(id), filter, { page: String(page) })}#keys`}
        shown={shownKeys}
      />
    </section>
  );
}
