import { Inject, Injectable } from '@nestjs/common';
import type { ListedAccount } from '../../accounts/accounts/account-directory.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { PasswordResets } from '../../accounts/links/password-resets.service.js';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CONFIG, type Config } from '../../config/config.js';
import { LimitStore } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/tier-limits.js';
import { KeyBudgets } from '../../usage/budgets/key-budgets.js';
import { SpendBudgets } from '../../usage/budgets/spend-budgets.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { KeySpends } from '../api-keys/key-spends.js';
import { chosenKeys } from '../api-keys/listed-keys.js';
import type { FormProblems } from '../forms/form-problems.js';
import { optionalPart } from '../optional-part.js';
import type { Page } from '../page.js';
import { pagingOf } from '../parts/pagination.js';
import type { QueryValues } from '../parts/query.js';
import { daysOf, lastDays } from '../usage/usage-days.js';
import { filterIn, offeredModels, passes } from '../usage/usage-filter.js';
import { UsageTotals } from '../usage/usage-totals.js';
import { AccountView } from './account-view.js';

interface Additions {
  readonly done?: string | undefined;
  readonly problems?: FormProblems;
}

/** Builds the page of an operator about one account. */
@Injectable()
export class AccountPage {
  constructor(
    private readonly reports: UsageReports,
    private readonly keys: ApiKeysService,
    private readonly spends: KeySpends,
    private readonly accounts: AccountsService,
    private readonly resets: PasswordResets,
    private readonly budgets: SpendBudgets,
    private readonly keyBudgets: KeyBudgets,
    @Inject(LimitStore) private readonly limits: LimitStore,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @throws {ServiceError} `invalid_request` for a number of days that no page offers. */
  async of(account: ListedAccount, operatorId: string, query: QueryValues, additions: Additions = {}): Promise<Page> {
    const filter = filterIn(query);
    const period = lastDays(filter.days, this.now());
    const totals = new UsageTotals((row) => passes(filter, row));
    const tier = this.accounts.tierOf(account);
    const [keys, spend, read, state, budget, resetUntil] = await Promise.all([
      this.keys.list(account.id),
      this.spends.of(account.id),
      optionalPart(totals.read(this.reports, account.id, period.from, period.to)),
      optionalPart(this.limits.peek(account.id, limitsOf(tier))),
      optionalPart(this.budgets.stateOfAccount(account.id, tier)),
      optionalPart(this.resets.validUntil(account.id)),
    ]);
    const budgets = await optionalPart(this.keyBudgets.of(account.id, keys));
    const { tiers, defaultTier, models, passwords } = this.config;
    const content = AccountView({
      account,
      operatorId,
      hasPasswords: passwords === 'on',
      tiers: [...tiers.keys()],
      defaultTier: defaultTier.name,
      tier,
      state,
      budget,
      resetUntil,
      keys: chosenKeys(keys, {}, this.now()),
      paging: pagingOf(query['page'], keys.length),
      showsKeys: query['page'] !== undefined,
      spend,
      budgets,
      now: this.now(),
      filter,
      models: offeredModels(models, totals.models),
      days: daysOf(period),
      totals: read,
      hasPrices: models.some(({ price }) => price !== undefined),
      ...additions,
    });
    return {
      title: account.email,
      section: 'accounts',
      width: 'wide',
      style: 'usage.css',
      script: 'usage/charts.js',
      content,
    };
  }
}
