import { Get, Inject, Param } from '@nestjs/common';
import { ApiKeysService } from '../../../plugin-api/core/accounts.js';
import { type Clock, CLOCK, ServiceError } from '../../../plugin-api/core/common.js';
import { PartOf } from '../../../plugin-api/core/http.js';
import { ModelCatalog } from '../../../plugin-api/core/models.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { RecentStreams, ReportSemaphore, UsageReports } from '../../../plugin-api/core/usage.js';
import { RefusedRequests } from '../requests/refused-requests.js';
import { CurrentPageRequest, PageController, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { sendCsv, positionIn } from '../parts/lists.js';
import { type QueryValues, OWN_REQUESTS_PATH, requestPath, USAGE_PATH } from '../paths.js';
import { receiptPage, refusalPage, requestsPage } from './request-pages.js';
import { RequestFinder, requestQueryIn, type RequestQuery } from './request-finder.js';
import { ownRequestPath } from './request-table.js';
import { lastDays, offeredModels } from './usage-filter.js';
import { UsageTotals } from './usage-reader.js';

/** The pages with the requests of an account. */
@PartOf('reports')
@PageController(USAGE_PATH)
@RateLimited('pages')
export class OwnRequestsController {
  constructor(
    private readonly pages: Pages,
    private readonly finder: RequestFinder,
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
    private readonly reports: UsageReports,
    private readonly semaphore: ReportSemaphore,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get('requests')
  async list(@CurrentPageRequest() { accountId, query: values, response }: PageRequest): Promise<void> {
    const query = ownQueryIn(values);
    const exact = this.finder.exactPath(OWN_REQUESTS_PATH, query);
    if (exact !== undefined) {
      this.pages.redirect(response, exact);
      return;
    }
    const before = positionIn(values);
    const { from, to } = lastDays(30, this.now());
    const [found, keys, totals] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.finder.page(query, accountId, before),
        this.keys.list(accountId),
        new UsageTotals().read(this.reports.pages(from, to, accountId)),
      ]),
    );
    const page = requestsPage({
      ...{ section: 'usage', path: OWN_REQUESTS_PATH, query, before, found, keys },
      problem: this.finder.problemOf(query),
      models: offeredModels(this.models.all(), totals.models),
      pathOf: ownRequestPath,
    });
    this.pages.send(response, page);
  }

  /** The requests that pass the filter as a file, the latest first. */
  @Get('requests/export.csv')
  async download(@CurrentPageRequest() { accountId, query: values, response }: PageRequest): Promise<void> {
    const query = ownQueryIn(values);
    const body = await this.semaphore.run(accountId, () => this.finder.file(query, accountId, 'member'));
    sendCsv(response, 'requests.csv', body);
  }

  @Get('requests/:request_id')
  async receipt(
    @Param('request_id') requestId: string,
    @CurrentPageRequest() { accountId, session, response }: PageRequest,
  ): Promise<void> {
    const [stream, keys] = await this.semaphore.run(accountId, () =>
      Promise.all([this.streams.find(accountId, requestId), this.keys.list(accountId)]),
    );
    if (stream === undefined) throw new ServiceError('not_found', 'There is no receipt for this request.');
    const inAllRequests = session.account.role === 'operator' ? requestPath(requestId) : undefined;
    const place = { keys, section: 'usage', list: OWN_REQUESTS_PATH, inAllRequests } as const;
    this.pages.send(response, receiptPage(stream, place));
  }

  @Get('refused/:id')
  async refusal(@Param('id') id: string, @CurrentPageRequest() { accountId, response }: PageRequest): Promise<void> {
    const [refused, keys] = await this.semaphore.run(accountId, () =>
      Promise.all([this.refused.find(id), this.keys.list(accountId)]),
    );
    if (refused?.accountId !== accountId) {
      throw new ServiceError('not_found', 'This request does not exist, or is no longer kept.');
    }
    this.pages.send(response, refusalPage(refused, { keys, section: 'usage', list: OWN_REQUESTS_PATH }));
  }
}

/** The list of an account is never about another account. */
function ownQueryIn(values: QueryValues): RequestQuery {
  return { ...requestQueryIn(values), account: undefined };
}
