import { Inject, Injectable } from '@nestjs/common';
import {
  AccountDirectory,
  type AccountPage as DirectoryPage,
  type AccountPosition,
} from '../../accounts/accounts/account-directory.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { utcDay } from '../../common/utc-day.js';
import { AccountSums } from '../../usage/reports/account-sums.js';
import { optionalPart } from '../optional-part.js';
import { PAGE_SIZE } from '../parts/lists.js';
import { lastDays } from '../usage/usage-days.js';
import { sumIn, UsageSum } from '../usage/usage-sum.js';
import { ServiceSpend, type SpendOverview } from './service-spend.js';
import type { AccountListFilter } from './listed-account.js';

/** The usage by the id of the account. */
type SumByAccount = ReadonlyMap<string, UsageSum>;

/** What the accounts of one page have spent. */
export interface PageSpend {
  readonly today: SumByAccount;
  readonly last30Days: SumByAccount;
}

export interface AccountPage extends DirectoryPage {
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

  /** @param after see {@link AccountDirectory.page}. */
  async page(filter: AccountListFilter, after: AccountPosition | undefined): Promise<AccountPage> {
    const page = await this.directory.page(filter, after, PAGE_SIZE);
    const spend = await optionalPart(this.spendOf(page.accounts.map(({ id }) => id)));
    return { ...page, spend };
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
    const to = utcDay(this.now());
    const from = utcDay(lastDays(30, this.now()).from);
    const today = new Map<string, UsageSum>();
    const last30Days = new Map<string, UsageSum>();
    for await (const part of this.sums.of(ids, { from, to })) {
      for (const figures of part) {
        sumIn(last30Days, figures.accountId).addRow(figures);
        if (figures.day === to) sumIn(today, figures.accountId).addRow(figures);
      }
    }
    return { today, last30Days };
  }
}
