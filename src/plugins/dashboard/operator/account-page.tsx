import { Inject, Injectable } from '@nestjs/common';
import {
  AccountsService,
  ApiKeysService,
  type ListedAccount,
  PasswordResets,
} from '../../../plugin-api/core/accounts.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { limitsOf, LimitStore } from '../../../plugin-api/core/throttling.js';
import { ListedBudgets, SpendBudgets } from '../../../plugin-api/core/usage.js';
import { KeySpends, KeyTable, chosenKeys } from '../api-keys/key-table.js';
import { count, LocalTime } from '../numbers-and-times.js';
import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { optionalPart } from '../pages.js';
import { Facts, Notice, Section, type Fact } from '../parts/blocks.js';
import { PAGE_SIZE, Pagination, pagingOf } from '../parts/lists.js';
import { pathWith, type QueryValues, accountPath, ACCOUNTS_PATH, REQUESTS_PATH } from '../paths.js';
import { BudgetSection, LimitsSection } from '../usage/limits-section.js';
import { filterIn, offeredModels } from '../usage/usage-filter.js';
import { UsageSection } from '../usage/usage-section.js';
import { UsageReader } from '../usage/usage-reader.js';
import { accountFacts, AccountStateBadge } from './account-list.js';

/** The number of keys that the page shows without a click. */
const SHOWN_KEYS = 10;

interface Additions {
  readonly done?: string | undefined;
  readonly problems?: FormProblems;
}

/** Builds the page of an operator about one account: its limits and usage, then its keys, and the forms that change it. */
@Injectable()
export class AccountPage {
  constructor(
    private readonly usage: UsageReader,
    private readonly keys: ApiKeysService,
    private readonly spends: KeySpends,
    private readonly accounts: AccountsService,
    private readonly resets: PasswordResets,
    private readonly budgets: SpendBudgets,
    private readonly listedBudgets: ListedBudgets,
    @Inject(LimitStore) private readonly limits: LimitStore,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @throws {ServiceError} `invalid_request` for a number of days that no page offers. */
  async of(account: ListedAccount, operatorId: string, query: QueryValues, additions: Additions = {}): Promise<Page> {
    const { id, email } = account;
    const { done, problems } = additions;
    const filter = filterIn(query);
    const period = this.usage.periodOf(filter);
    const tier = this.accounts.tierOf(account);
    const [keys, spend, read, state, budget, resetUntil] = await Promise.all([
      this.keys.list(id),
      this.spends.of(id),
      optionalPart(this.usage.totals(filter, period, id)),
      optionalPart(this.limits.peek(id, limitsOf(tier))),
      optionalPart(this.budgets.stateOfAccount(id, tier)),
      optionalPart(this.resets.validUntil(id)),
    ]);
    const budgets = await optionalPart(this.listedBudgets.ofKeys(id, keys));
    const sortedKeys = chosenKeys(keys, {}, this.now());
    const paging = pagingOf(query['page'], keys.length);
    const { models } = this.config;
    const path = accountPath(id);
    const content = (
      <div class="usage">
        <h1 class="breaks">{email}</h1>
        <p class="actions">
          <a href={ACCOUNTS_PATH}>← Accounts</a>
          <AccountStateBadge account={account} />
          <a href={pathWith(REQUESTS_PATH, { account: id })}>Requests</a>
          <a href="#keys">API keys</a>
          <a href="#manage">Manage</a>
        </p>
        <Notice tone="good">{done}</Notice>
        <LimitsSection heading="Limits" tier={tier} state={state} />
        <BudgetSection budget={budget} />
        <UsageSection
          title="Usage"
          path={path}
          filter={filter}
          models={offeredModels(models, read?.models ?? [])}
          period={period}
          totals={read}
          keys={sortedKeys}
          hasPrices={models.some(({ price }) => price !== undefined)}
        />
        <Section id="keys" title="API keys" link={<a href={`${path}/keys/new`}>New key</a>}>
          {keys.length === 0 ? (
            <p class="empty">No keys yet.</p>
          ) : (
            <details open={query['page'] !== undefined || keys.length <= SHOWN_KEYS}>
              <summary>{keys.length === 1 ? '1 key' : `${count(keys.length)} keys, active keys first`}</summary>
              <KeyTable
                keys={sortedKeys.slice(paging.offset, paging.offset + PAGE_SIZE)}
                now={this.now()}
                spend={spend}
                budgets={budgets}
                usageOf={(key) => pathWith(path, { days: 30, key })}
                actionsOn={(key) => [
                  { label: 'Edit', path: `${path}/keys/${key}/edit` },
                  { label: 'Revoke', path: `${path}/keys/${key}/revoke` },
                ]}
              />
              <Pagination path={path} filter={{ ...filter }} fragment="#keys" paging={paging} />
            </details>
          )}
        </Section>
        <Section id="manage" title="Manage">
          <div class="managed">
            <Facts facts={[...accountFacts(account), resetUntil !== undefined && resetFact(resetUntil)]} />
            <div>
              {this.tierForm(account, operatorId, problems)}
              {id === operatorId ? (
                <p class="fine">This is your own account. Another operator can disable it.</p>
              ) : (
                this.changesOfOther(account, operatorId, resetUntil)
              )}
            </div>
          </div>
        </Section>
      </div>
    );
    return {
      ...{ title: email, section: 'accounts', width: 'wide' },
      ...{ style: 'usage.css', script: 'usage/charts.js', content },
    };
  }

  private tierForm({ id, tier }: ListedAccount, operatorId: string, problems: FormProblems | undefined) {
    const { tiers, defaultTier } = this.config;
    const options = {
      ...(tiers.has(tier) ? {} : { [tier]: `${tier} (not configured, uses ${defaultTier.name})` }),
      ...Object.fromEntries([...tiers.keys()].map((name) => [name, name])),
    };
    return (
      <PageForm
        action={accountPath(id, 'tier')}
        layout="row"
        accountId={operatorId}
        fields={[{ label: 'Tier', name: 'tier', type: 'select', options, value: tier }]}
        button="Change tier"
        tone="quiet"
        problems={problems}
      />
    );
  }

  private changesOfOther({ id, role, disabledAt }: ListedAccount, operatorId: string, resetUntil: Date | undefined) {
    const form = { accountId: operatorId, tone: 'quiet' } as const;
    return (
      <>
        <p class="actions">
          <a href={accountPath(id, 'role')}>{role === 'operator' ? 'Make member' : 'Make operator'}</a>
          {this.config.passwords === 'on' ? <a href={accountPath(id, 'password')}>Reset password</a> : null}
          <a href={accountPath(id, 'delete')}>Delete account</a>
        </p>
        {resetUntil === undefined ? null : (
          <PageForm {...form} action={accountPath(id, 'password/revoke')} button="Revoke link for a new password" />
        )}
        {disabledAt === null ? (
          <PageForm method="get" action={accountPath(id, 'disable')} button="Disable account" tone="quiet" />
        ) : (
          <PageForm {...form} action={accountPath(id, 'enable')} button="Enable account" />
        )}
      </>
    );
  }
}

function resetFact(until: Date): Fact {
  const validity = (
    <>
      valid until <LocalTime at={until} />
    </>
  );
  return ['Link for a new password', validity];
}
