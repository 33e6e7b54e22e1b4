import { Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { positionIn } from '../parts/list-position.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { PAGE_SIZE } from '../parts/pagination.js';
import type { QueryValues } from '../parts/query.js';
import { requestPath } from '../layout/navigation.js';
import { ReceiptView, RequestsView } from './requests-view.js';
import { lastDays } from './usage-days.js';
import { filterIn, offeredModels } from './usage-filter.js';
import { UsageTotals } from './usage-totals.js';

@PageController('usage/requests')
@LimitedByBudget('pages')
@SessionOnly()
export class RequestsPageController {
  constructor(
    private readonly pages: Pages,
    private readonly streams: RecentStreams,
    private readonly reports: UsageReports,
    private readonly semaphore: ReportSemaphore,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async list(
    @Query() query: QueryValues,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const filter = filterIn(query);
    const { days, model, key } = filter;
    const before = positionIn(query);
    const period = lastDays(days, this.now());
    const [list, keys, totals] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.streams.list(accountId, { ...period, model, key, before }, PAGE_SIZE),
        this.keys.list(accountId),
        new UsageTotals().read(this.reports, accountId, period.from, period.to),
      ]),
    );
    const models = offeredModels(this.models.all(), totals.models);
    const content = RequestsView({ filter, list, models, keys, isFirstPage: before === undefined });
    this.pages.send(response, { title: 'Requests', section: 'usage', width: 'wide', content, style: 'usage.css' });
  }

  @Get(':request_id')
  async receipt(
    @Param('request_id') requestId: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const [stream, keys] = await this.semaphore.run(accountId, () =>
      Promise.all([this.streams.find(accountId, requestId), this.keys.list(accountId)]),
    );
    if (stream === undefined) throw new ServiceError('not_found', 'There is no receipt for this request.');
    const isOperator = response.req.context.session?.account.role === 'operator';
    const content = ReceiptView({ stream, keys, inAllRequests: isOperator ? requestPath(requestId) : undefined });
    this.pages.send(response, { title: 'Receipt', section: 'usage', content, style: 'usage.css' });
  }
}
