import { Inject, Injectable } from '@nestjs/common';
import { AccountDirectory, type ListedAccount } from '../../../accounts/accounts/account-directory.js';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import { CLOCK, type Clock } from '../../../common/clock.js';
import { utcDay } from '../../../common/utc-day.js';
import { AccountSums, type Days } from '../../../usage/reports/account-sums.js';
import { pageOfMany, type PageOfMany } from '../../layout/page-of-many.js';
import { optionalPart } from '../../optional-part.js';
import { lastDays } from '../../usage/usage-days.js';
import { sumIn, UsageSum } from '../../usage/usage-sum.js';
import { ServiceSpend, type SpendOverview } from '../service-spend.js';
import type { AccountListFilter } from './account-list-filter.js';

const ACCOUNTS_PER_PAGE = 50;

/** The usage by the id of the account. */
type SumByAccount = ReadonlyMap<string, UsageSum>;

/** What the accounts of one page have spent. */
export interface PageSpend {
  readonly today: SumByAccount;
  readonly last30Days: SumByAccount;
}

export interface AccountPage {
  readonly accounts: readonly ListedAccount[];
  /** How many accounts pass the filter, on all pages together. */
  readonly count: number;
  readonly shown: PageOfMany;
  /** `undefined` when the sums cannot be read. */
  readonly spend: PageSpend | undefined;
}

/** The overview with the addresses of its accounts by id. A deleted account has none. */
export interface NamedOverview extends SpendOverview {
  readonly emails: ReadonlyMap<string, string>;
}

/** Reads what the page with all accounts shows. */
@Injectable()
export class AccountList {
  constructor(
    private readonly directory: AccountDirectory,
    private readonly accounts: AccountsService,
    private readonly sums: AccountSums,
    private readonly total: ServiceSpend,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @param wanted the page number as the query has it. */
  async page(filter: AccountListFilter, wanted: unknown): Promise<AccountPage> {
    const count = await this.directory.count(filter);
    const shown = pageOfMany(wanted, count, ACCOUNTS_PER_PAGE);
    const accounts = await this.directory.page(filter, (shown.number - 1) * ACCOUNTS_PER_PAGE, ACCOUNTS_PER_PAGE);
    const spend = await optionalPart(this.spendOf(accounts.map(({ id }) => id)));
    return { accounts, count, shown, spend };
  }

  /** Returns `undefined` when the sums cannot be read, or not yet. */
  async overview(): Promise<NamedOverview | undefined> {
    const overview = await optionalPart(this.total.overview());
    const ids = overview?.highest.map(({ accountId }) => accountId) ?? [];
    return overview && { ...overview, emails: await this.accounts.emailsOf(ids) };
  }

  countByTier(): Promise<ReadonlyMap<string, number>> {
    return this.directory.countByTier();
  }

  private async spendOf(ids: readonly string[]): Promise<PageSpend> {
    const today = utcDay(this.now());
    const from = utcDay(lastDays(30, this.now()).from);
    return {
      today: await this.sumsOf(ids, { from: today, to: today }),
      last30Days: await this.sumsOf(ids, { from, to: today }),
    };
  }

  private async sumsOf(ids: readonly string[], days: Days): Promise<SumByAccount> {
    const sums = new Map<string, UsageSum>();
    for (const figures of await this.sums.of(ids, days)) sumIn(sums, figures.accountId).addRow(figures);
    return sums;
  }
}
