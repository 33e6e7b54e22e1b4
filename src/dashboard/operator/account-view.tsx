import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { KeySpend } from '../api-keys/key-spends.js';
import { KeyTable } from '../api-keys/key-table.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { Facts } from '../parts/facts.js';
import { Notice } from '../parts/notice.js';
import { PAGE_SIZE, Pagination, type Paging } from '../parts/pagination.js';
import { pathWith } from '../parts/query.js';
import { UsageSection, type UsageFigures } from '../usage/usage-view.js';
import { accountPath, ACCOUNTS_PATH } from './account-path.js';
import { accountFacts } from './listed-account.js';

interface AccountViewProps extends UsageFigures {
  readonly account: ListedAccount;
  readonly operatorId: string;
  /** The names of the tiers of the configuration. */
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  /** All keys of the account, in the order of the list. */
  readonly keys: readonly ListedApiKey[];
  readonly paging: Paging;
  readonly spend: KeySpend | undefined;
  readonly now: number;
  readonly done?: string | undefined;
  readonly problems?: FormProblems;
}

/** The page of an operator about one account. */
export function AccountView(props: AccountViewProps) {
  const { account, done, filter, keys, days, models, totals, hasPrices } = props;
  return (
    <div class="usage">
      <h1 class="breaks">{account.email}</h1>
      <p>
        <a href={ACCOUNTS_PATH}>← Accounts</a>
      </p>
      <Notice tone="good">{done}</Notice>
      <section class="managed">
        <Facts facts={accountFacts(account)} />
        <ManageForms {...props} />
      </section>
      <UsageSection
        heading="Usage"
        path={accountPath(account.id)}
        filter={filter}
        models={models}
        days={days}
        totals={totals}
        keys={keys}
        hasPrices={hasPrices}
      />
      <Keys {...props} />
    </div>
  );
}

/** The forms that change the tier and the state of an account. */
function ManageForms({ account, operatorId, tiers, defaultTier, problems }: AccountViewProps) {
  const { id, tier, role, disabledAt } = account;
  const options = {
    ...(tiers.includes(tier) ? {} : { [tier]: `${tier} (not configured, uses ${defaultTier})` }),
    ...Object.fromEntries(tiers.map((name) => [name, name])),
  };
  return (
    <div>
      <PageForm
        action={accountPath(id, 'tier')}
        layout="row"
        accountId={operatorId}
        fields={[{ label: 'Tier', name: 'tier', type: 'select', options, value: tier }]}
        button="Change tier"
        tone="quiet"
        problems={problems}
      />
      {id === operatorId ? null : (
        <p class="actions">
          <a href={accountPath(id, 'role')}>{role === 'operator' ? 'Make member' : 'Make operator'}</a>
          <a href={accountPath(id, 'password')}>Reset password</a>
          <a href={accountPath(id, 'delete')}>Delete account</a>
        </p>
      )}
      {id === operatorId ? (
        <p class="fine">This is your own account. Another operator can disable it.</p>
      ) : disabledAt === null ? (
        <PageForm method="get" action={accountPath(id, 'disable')} button="Disable account" tone="quiet" />
      ) : (
        <PageForm action={accountPath(id, 'enable')} accountId={operatorId} button="Enable account" tone="quiet" />
      )}
    </div>
  );
}

function Keys({ account: { id }, keys, paging, spend, now, filter }: AccountViewProps) {
  const path = accountPath(id);
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      {keys.length === 0 ? (
        <p class="empty">No keys yet.</p>
      ) : (
        <KeyTable
          keys={keys.slice(paging.offset, paging.offset + PAGE_SIZE)}
          now={now}
          spend={spend}
          usageOf={(key) => pathWith(path, { days: 30, key })}
          actionsOn={(key) => [['Revoke', accountPath(id, `keys/${key}/revoke`)]]}
        />
      )}
      <Pagination path={path} filter={{ ...filter }} fragment="#keys" paging={paging} />
    </section>
  );
}
