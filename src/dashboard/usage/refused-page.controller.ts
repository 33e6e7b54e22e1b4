import { Get, Inject, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { RefusedRequests } from '../../observability/refusals/refused-requests.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { positionIn } from '../parts/list-position.js';
import { PAGE_SIZE } from '../parts/pagination.js';
import type { QueryValues } from '../parts/query.js';
import { REFUSED_PATH, RefusedView } from './refused-view.js';
import { lastDays } from './usage-days.js';

/** The page with the refused requests of an account. */
@PageController(REFUSED_PATH.slice(1))
@LimitedByBudget('pages')
@SessionOnly()
export class RefusedPageController {
  constructor(
    private readonly pages: Pages,
    private readonly refused: RefusedRequests,
    private readonly semaphore: ReportSemaphore,
    private readonly keys: ApiKeysService,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async list(
    @Query() query: QueryValues,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const before = positionIn(query);
    const [{ rows, next }, keys] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.refused.listIn(lastDays(30, this.now()), { accountId }, before, PAGE_SIZE),
        this.keys.list(accountId),
      ]),
    );
    const content = RefusedView({ refused: rows, next, keys, isFirstPage: before === undefined });
    this.pages.send(response, {
      title: 'Refused requests',
      section: 'usage',
      width: 'wide',
      content,
      style: 'usage.css',
    });
  }
}
