import { Get, Inject, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { CONFIG, type Config } from '../../../config/config.js';
import { ReportGate } from '../../../usage/reports/report-gate.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { ACCOUNTS_ROUTE } from '../account-path.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { accountFilterOf } from './account-list-filter.js';
import { AccountList } from './account-list.js';
import { AccountsView } from './accounts-view.js';

/** The page with all accounts, their spend, and the tiers. */
@PageController(ACCOUNTS_ROUTE)
@OperatorOnly()
export class AccountsController {
  constructor(
    private readonly pages: Pages,
    private readonly list: AccountList,
    private readonly gate: ReportGate,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async show(
    @Query() query: Readonly<Record<string, unknown>>,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const filter = accountFilterOf(query);
    const [page, overview, countByTier] = await this.gate.run(operator.id, () =>
      Promise.all([this.list.page(filter, query['page']), this.list.overview(), this.list.countByTier()]),
    );
    const { tiers, defaultTier, models } = this.config;
    const content = AccountsView({
      operatorId: operator.id,
      filter,
      ...page,
      overview,
      tiers: [...tiers.values()],
      defaultTier,
      countByTier,
      hasPrices: models.some(({ price }) => price !== undefined),
    });
    this.pages.send(response, { title: 'Accounts', place: 'accounts', width: 'wide', style: 'usage.css', content });
  }
}
