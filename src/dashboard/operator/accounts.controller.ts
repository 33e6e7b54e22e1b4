import { Get, Inject, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Invitations } from '../../accounts/links/invitations.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { CONFIG, type Config } from '../../config/config.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { optionalPart } from '../optional-part.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { positionIn } from '../parts/list-position.js';
import type { QueryValues } from '../parts/query.js';
import { ACCOUNTS_ROUTE } from './account-path.js';
import { OperatorOnly } from './operator-only.decorator.js';
import { AccountList } from './account-list.js';
import { AccountsView } from './accounts-view.js';
import { accountFilterIn } from './listed-account.js';

/** What the page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['deleted', 'The account was deleted.'],
  ['invitation-revoked', 'The invitation was revoked.'],
]);

/** The page with all accounts, their spend, and the tiers. */
@PageController(ACCOUNTS_ROUTE)
@LimitedByBudget('pages')
@OperatorOnly()
export class AccountsController {
  constructor(
    private readonly pages: Pages,
    private readonly list: AccountList,
    private readonly invitations: Invitations,
    private readonly semaphore: ReportSemaphore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async show(
    @Query() query: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const filter = accountFilterIn(query);
    const after = positionIn(query);
    const [page, overview, countByTier, invitations] = await this.semaphore.run(operator.id, () =>
      Promise.all([
        this.list.page(filter, after),
        this.list.overview(),
        this.list.countByTier(),
        optionalPart(this.invitations.list()),
      ]),
    );
    const { tiers, defaultTier, models } = this.config;
    const content = AccountsView({
      operatorId: operator.id,
      done: DONE.get(query['done']),
      hasPasswords: this.pages.hasPasswords,
      invitations,
      filter,
      isFirstPage: after === undefined,
      ...page,
      overview,
      tiers: [...tiers.values()],
      defaultTier,
      countByTier,
      hasPrices: models.some(({ price }) => price !== undefined),
    });
    this.pages.send(response, { title: 'Accounts', section: 'accounts', width: 'wide', style: 'usage.css', content });
  }
}
