import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import type { KeySpend } from '../api-keys/key-spends.js';
import { KeyTable } from '../api-keys/key-table.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { count } from '../format/numbers.js';
import { Moment } from '../format/times.js';
import { REQUESTS_ENTRY } from '../layout/navigation.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Notice } from '../parts/notice.js';
import { PAGE_SIZE, Pagination, type Paging } from '../parts/pagination.js';
import { pathWith } from '../parts/query.js';
import { budgetCosts, BudgetSection, type BudgetSectionProps } from '../usage/budget-section.js';
import { LimitsSection, type LimitsSectionProps } from '../usage/limits-section.js';
import { decimalsOf } from '../usage/sum-texts.js';
import { UsageSection, type UsageFigures } from '../usage/usage-view.js';
import { accountPath, ACCOUNTS_PATH } from './account-path.js';
import { KeyLimitList } from './key-limits.js';
import { accountFacts, AccountStateBadge } from './listed-account.js';

/** The number of keys that the page shows without a click. */
const SHOWN_KEYS = 10;

interface AccountViewProps
  extends Omit<UsageFigures, 'decimals'>, LimitsSectionProps, Pick<BudgetSectionProps, 'budget'> {
  readonly account: ListedAccount;
  readonly operatorId: string;
  readonly hasPasswords: boolean;
  /** The names of the tiers of the configuration. */
  readonly tiers: readonly string[];
  readonly defaultTier: string;
  /** All keys of the account, in the order of the list. */
  readonly keys: readonly ListedApiKey[];
  readonly paging: Paging;
  /** Whether the user has asked for a page of the keys. */
  readonly showsKeys: boolean;
  readonly spend: KeySpend | undefined;
  /** The budgets of keys, by the id of the key. `undefined` when they cannot be read. */
  readonly budgets: ReadonlyMap<string, BudgetState> | undefined;
  /** Until when the link for a new password is valid. `undefined`: there is no such link. */
  readonly resetUntil: Date | undefined;
  readonly now: number;
  readonly done?: string | undefined;
  readonly problems?: FormProblems;
}

/** The page of an operator about one account: its limits and usage, then its keys, and the forms that change it. */
export function AccountView(props: AccountViewProps) {
  const { account, done, filter, keys, days, models, totals, hasPrices, tier, state, budget } = props;
  const decimals = decimalsOf([...(totals?.costs ?? []), ...budgetCosts(budget)]);
  return (
    <div class="usage">
      <h1 class="breaks">{account.email}</h1>
      <p class="actions">
        <a href={ACCOUNTS_PATH}>← Accounts</a>
        <AccountStateBadge account={account} />
        <a href={pathWith(REQUESTS_ENTRY.path, { account: account.id })}>Requests</a>
        <a href="#keys">API keys</a>
        <a href="#manage">Manage</a>
      </p>
      <Notice tone="good">{done}</Notice>
      <LimitsSection limitsHeading="Limits" tier={tier} state={state} />
      <BudgetSection budget={budget} decimals={decimals} />
      <UsageSection
        heading="Usage"
        path={accountPath(account.id)}
        filter={filter}
        models={models}
        days={days}
        totals={totals}
        keys={keys}
        hasPrices={hasPrices}
        decimals={decimals}
      />
      <Keys {...props} />
      <section aria-labelledby="manage">
        <h2 id="manage">Manage</h2>
        <div class="managed">
          <Facts facts={[...accountFacts(account), ...resetFact(props)]} />
          <ManageForms {...props} />
        </div>
      </section>
    </div>
  );
}

function resetFact({ resetUntil }: AccountViewProps): readonly Fact[] {
  if (resetUntil === undefined) return [];
  const until = (
    <>
      valid until <Moment at={resetUntil} withZone />
    </>
  );
  return [['Link for a new password', until]];
}

/** The forms that change the tier and the state of an account. */
function ManageForms(props: AccountViewProps) {
  const { account, operatorId, hasPasswords, tiers, defaultTier, resetUntil, problems } = props;
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
          {hasPasswords ? <a href={accountPath(id, 'password')}>Reset password</a> : null}
          <a href={accountPath(id, 'delete')}>Delete account</a>
        </p>
      )}
      {id === operatorId || resetUntil === undefined ? null : (
        <PageForm
          action={accountPath(id, 'password/revoke')}
          accountId={operatorId}
          button="Revoke link for a new password"
          tone="quiet"
        />
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

function Keys({ account: { id }, keys, paging, showsKeys, spend, budgets, now, filter }: AccountViewProps) {
  const path = accountPath(id);
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      {keys.length === 0 ? (
        <p class="empty">No keys yet.</p>
      ) : (
        <details open={showsKeys || keys.length <= SHOWN_KEYS}>
          <summary>{keys.length === 1 ? '1 key' : `${count(keys.length)} keys, active keys first`}</summary>
          <KeyTable
            keys={keys.slice(paging.offset, paging.offset + PAGE_SIZE)}
            now={now}
            spend={spend}
            budgets={budgets}
            usageOf={(key) => pathWith(path, { days: 30, key })}
            limitsOf={(key) => <KeyLimitList limits={key} />}
            actionsOn={(key) => [['Revoke', accountPath(id, `keys/${key}/revoke`)]]}
          />
          <Pagination path={path} filter={{ ...filter }} fragment="#keys" paging={paging} />
        </details>
      )}
    </section>
  );
}
