import { Get, Inject, Param } from '@nestjs/common';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { RefusedRequests } from '../../observability/refusals/refused-requests.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { pathWith } from '../parts/query.js';
import { OWN_REQUESTS_PATH, REFUSED_PATH, requestPath, USAGE_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { receiptPage } from './receipt-page.js';
import { RefusedTable } from './refused-table.js';
import { RequestTable } from './request-table.js';
import { lastDays } from './usage-days.js';
import { filterIn, offeredModels, UsageFilterForm } from './usage-filter.js';
import { UsageTotals } from './usage-totals.js';

/** The pages with the single requests of an account, and with its refused requests. */
@PageController(USAGE_PATH)
@LimitedByBudget('pages')
@SessionOnly()
export class RequestsPageController {
  constructor(
    private readonly pages: Pages,
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
    private readonly reports: UsageReports,
    private readonly semaphore: ReportSemaphore,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get('requests')
  async list(@CurrentVisit() { accountId, query, response }: Visit): Promise<void> {
    const filter = filterIn(query);
    const { days, model, key } = filter;
    const before = positionIn(query);
    const period = lastDays(days, this.now());
    const [{ streams, next }, keys, totals] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.streams.list(accountId, { ...period, model, key, before }, PAGE_SIZE),
        this.keys.list(accountId),
        new UsageTotals().read(this.reports, accountId, period.from, period.to),
      ]),
    );
    const models = offeredModels(this.models.all(), totals.models);
    const content = (
      <div class="usage">
        <h1>Requests</h1>
        <p>
          <a href={pathWith(USAGE_PATH, { ...filter })}>← Usage</a>
        </p>
        <UsageFilterForm filter={filter} path={OWN_REQUESTS_PATH} models={models} keys={keys} />
        <RequestTable
          streams={streams}
          keys={keys}
          empty={
            next === undefined
              ? 'No requests in this period.'
              : 'None of the latest requests match. Look at older requests.'
          }
        />
        <OlderLinks path={OWN_REQUESTS_PATH} filter={{ ...filter }} before={before} next={next} />
      </div>
    );
    this.pages.send(response, { title: 'Requests', section: 'usage', width: 'wide', content, style: 'usage.css' });
  }

  @Get('requests/:request_id')
  async receipt(
    @Param('request_id') requestId: string,
    @CurrentVisit() { accountId, session, response }: Visit,
  ): Promise<void> {
    const [stream, keys] = await this.semaphore.run(accountId, () =>
      Promise.all([this.streams.find(accountId, requestId), this.keys.list(accountId)]),
    );
    if (stream === undefined) throw new ServiceError('not_found', 'There is no receipt for this request.');
    const inAllRequests = session.account.role === 'operator' ? requestPath(requestId) : undefined;
    this.pages.send(response, receiptPage({ stream, keys, section: 'usage', list: OWN_REQUESTS_PATH, inAllRequests }));
  }

  @Get('refused')
  async listRefused(@CurrentVisit() { accountId, query, response }: Visit): Promise<void> {
    const before = positionIn(query);
    const [{ rows, next }, keys] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.refused.listIn(lastDays(30, this.now()), { accountId }, before, PAGE_SIZE),
        this.keys.list(accountId),
      ]),
    );
    const content = (
      <div class="usage">
        <h1>Refused requests</h1>
        <p>
          <a href={USAGE_PATH}>← Usage</a>
        </p>
        {rows.length === 0 ? (
          <p class="empty">No request was refused in the last 7 days.</p>
        ) : (
          <RefusedTable refused={rows} keys={keys} />
        )}
        <OlderLinks path={REFUSED_PATH} before={before} next={next} />
      </div>
    );
    const page = { title: 'Refused requests', section: 'usage', width: 'wide', style: 'usage.css' } as const;
    this.pages.send(response, { ...page, content });
  }
}
