import { Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { CLOCK, type Clock } from '../../../common/clock.js';
import { ServiceError } from '../../../common/service-error.js';
import { DAY_MS } from '../../../common/utc-day.js';
import { ModelCatalog } from '../../../models/model-catalog.js';
import { RefusedRequests } from '../../../observability/refusals/refused-requests.js';
import { RequestSearch, type FoundRequests } from '../../../observability/search/request-search.js';
import { LimitedByBudget } from '../../../throttling/budgets/limited-by-budget.decorator.js';
import { RecentStreams } from '../../../usage/reports/recent-streams.js';
import { ReportSemaphore } from '../../../usage/reports/report-semaphore.js';
import { REQUESTS_ENTRY } from '../../layout/navigation.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { positionIn } from '../../parts/list-position.js';
import { PAGE_SIZE } from '../../parts/pagination.js';
import type { QueryValues } from '../../parts/query.js';
import { ReceiptView } from '../../usage/requests-view.js';
import { AccountName } from '../account-name.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { RefusedView } from './refused-view.js';
import { outcomesOf, requestQueryIn, type RequestQuery } from './request-filter.js';
import { RequestsView } from './requests-view.js';

/** No request began before. */
const LONG_AGO = new Date(0);
const NONE: FoundRequests = { requests: [], next: undefined };

/** The pages of operators with the requests of all accounts, and with the facts about one request. */
@PageController(REQUESTS_ENTRY.path.slice(1))
@LimitedByBudget('pages')
@OperatorOnly()
export class RequestsController {
  constructor(
    private readonly pages: Pages,
    private readonly search: RequestSearch,
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
    private readonly accounts: AccountsService,
    private readonly semaphore: ReportSemaphore,
    private readonly models: ModelCatalog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async list(
    @Query() values: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const query = requestQueryIn(values);
    const before = positionIn(values);
    const [found, emails, isUnknownAccount] = await this.semaphore.run(operator.id, async () => {
      const accountId = await this.accountIdOf(query);
      const isUnknown = accountId === undefined && query.account !== undefined;
      const list = isUnknown ? NONE : await this.search.list(this.filterOf(query, accountId, before), PAGE_SIZE);
      const ids = list.requests.map((each) => (each.kind === 'stream' ? each.stream : each.refused).accountId);
      return [list, await this.accounts.emailsOf([...new Set(ids)]), isUnknown] as const;
    });
    const models = this.models.all().map(({ id }) => id);
    const isFirstPage = before === undefined;
    const content = RequestsView({ query, found, emails, models, isFirstPage, isUnknownAccount });
    this.pages.send(response, { title: 'Requests', section: 'requests', width: 'wide', content, style: 'usage.css' });
  }

  @Get('streams/:id')
  async receipt(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const [stream, emails] = await this.semaphore.run(operator.id, async () => {
      const found = await this.streams.findRecord(id);
      if (found === undefined) throw unknownRequest();
      return [found, await this.accounts.emailsOf([found.accountId])] as const;
    });
    const account = AccountName({ id: stream.accountId, emails });
    const content = ReceiptView({ stream, keys: [], account, list: REQUESTS_ENTRY.path });
    this.pages.send(response, { title: 'Receipt', section: 'requests', content, style: 'usage.css' });
  }

  @Get('refused/:id')
  async refusal(
    @Param('id') id: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const [refused, emails] = await this.semaphore.run(operator.id, async () => {
      const found = await this.refused.find(id);
      if (found === undefined) throw unknownRequest();
      return [found, await this.accounts.emailsOf([found.accountId])] as const;
    });
    const content = RefusedView({ refused, emails });
    this.pages.send(response, { title: 'Refused request', section: 'requests', content, style: 'usage.css' });
  }

  private filterOf(
    { request: requestId, key, model, outcome }: RequestQuery,
    accountId: string | undefined,
    before: ReturnType<typeof positionIn>,
  ) {
    // The clocks of replicas can differ.
    const to = new Date(this.now() + DAY_MS);
    return { from: LONG_AGO, to, requestId, accountId, key, model, outcomes: outcomesOf(outcome), before };
  }

  /** The id of the account that the query names. `undefined`: it names none, or an address without an account. */
  private async accountIdOf({ account }: RequestQuery): Promise<string | undefined> {
    if (account?.includes('@') !== true) return account;
    return (await this.accounts.findByEmail(account))?.id;
  }
}

function unknownRequest(): ServiceError {
  return new ServiceError('not_found', 'This request does not exist, or is no longer kept.');
}
