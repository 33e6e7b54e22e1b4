import { Get, Inject, Param } from '@nestjs/common';
import { AccountsService } from '../../../plugin-api/core/accounts.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { ModelCatalog } from '../../../plugin-api/core/models.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { RecentStreams, ReportSemaphore } from '../../../plugin-api/core/usage.js';
import { RefusedRequests, type FoundRequest } from '../requests/refused-requests.js';
import { CurrentPageRequest, PageController, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { positionIn, sendCsv } from '../parts/lists.js';
import { REQUESTS_PATH } from '../paths.js';
import { receiptPage, refusalPage, requestsPage } from '../usage/request-pages.js';
import { RequestFinder, requestQueryIn, type RequestQuery } from '../usage/request-finder.js';
import { AccountName, type Emails } from './account-list.js';
import { OperatorOnly } from './operator-actions.js';

/** The pages of operators with the requests of all accounts, and with the facts about one request. */
@PageController(REQUESTS_PATH)
@RateLimited('pages')
@OperatorOnly()
export class RequestsController {
  constructor(
    private readonly pages: Pages,
    private readonly finder: RequestFinder,
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
    private readonly accounts: AccountsService,
    private readonly semaphore: ReportSemaphore,
    private readonly models: ModelCatalog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async list(@CurrentPageRequest() { accountId: operatorId, query: values, response }: PageRequest): Promise<void> {
    const query = requestQueryIn(values);
    const exact = this.finder.exactPath(REQUESTS_PATH, query);
    if (exact !== undefined) {
      this.pages.redirect(response, exact);
      return;
    }
    const before = positionIn(values);
    const [found, accountId, emails] = await this.semaphore.run(operatorId, async () => {
      const id = await this.accountIdOf(query);
      const list = await this.finder.page(query, id, before);
      const ids = list.rows.map((each) => (each.kind === 'stream' ? each.stream : each.refused).accountId);
      return [list, id, await this.accounts.emailsOf([...new Set(ids)])] as const;
    });
    const page = requestsPage({
      ...{ section: 'requests', path: REQUESTS_PATH, query, before, found, pathOf },
      problem:
        accountId?.includes('@') === true
          ? 'No account has this email. Search for deleted accounts by ID.'
          : this.finder.problemOf(query),
      models: this.models.all().map(({ id }) => id),
      upstreams: [...this.config.upstreams.keys()],
      accountOf: (id) => <AccountName id={id} emails={emails} />,
    });
    this.pages.send(response, page);
  }

  /** The requests that pass the filter as a file, the latest first. */
  @Get('export.csv')
  async download(@CurrentPageRequest() { accountId: operatorId, query: values, response }: PageRequest): Promise<void> {
    const query = requestQueryIn(values);
    const body = await this.semaphore.run(operatorId, async () =>
      this.finder.file(query, await this.accountIdOf(query), 'operator'),
    );
    sendCsv(response, 'requests.csv', body);
  }

  @Get('streams/:id')
  async receipt(
    @Param('id') id: string,
    @CurrentPageRequest() { accountId: operatorId, response }: PageRequest,
  ): Promise<void> {
    const [stream, emails] = await this.found(operatorId, () => this.streams.findRecord(id));
    this.pages.send(response, receiptPage(stream, placeOf(stream, emails)));
  }

  @Get('refused/:id')
  async refusal(
    @Param('id') id: string,
    @CurrentPageRequest() { accountId: operatorId, response }: PageRequest,
  ): Promise<void> {
    const [refused, emails] = await this.found(operatorId, () => this.refused.find(id));
    this.pages.send(response, refusalPage(refused, placeOf(refused, emails)));
  }

  /** Returns a request with the address of its account. */
  private found<T extends { readonly accountId: string }>(
    operatorId: string,
    find: () => Promise<T | undefined>,
  ): Promise<readonly [T, Emails]> {
    return this.semaphore.run(operatorId, async () => {
      const found = await find();
      if (found === undefined) {
        throw new ServiceError('not_found', 'This request does not exist, or is no longer kept.');
      }
      return [found, await this.accounts.emailsOf([found.accountId])] as const;
    });
  }

  /** The id of the account that the query names. An address without an account stays as it is, and matches no request. */
  private async accountIdOf({ account }: RequestQuery): Promise<string | undefined> {
    if (account?.includes('@') !== true) return account;
    return (await this.accounts.findByEmail(account))?.id ?? account;
  }
}

function pathOf(request: FoundRequest): string {
  const [part, { id }] =
    request.kind === 'stream' ? (['streams', request.stream] as const) : (['refused', request.refused] as const);
  return `${REQUESTS_PATH}/${part}/${encodeURIComponent(id)}`;
}

function placeOf({ accountId }: { readonly accountId: string }, emails: Emails) {
  const account = <AccountName id={accountId} emails={emails} />;
  return { keys: [], account, section: 'requests', list: REQUESTS_PATH } as const;
}
