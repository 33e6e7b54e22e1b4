import { Get, Inject, Param } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { DAY_MS } from '../../common/utc-day.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { RefusedRequests } from '../../observability/refusals/refused-requests.js';
import { RequestSearch, type FoundRequests } from '../../observability/search/request-search.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { count } from '../format/numbers.js';
import { Moment } from '../format/times.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { Facts, Notice } from '../parts/blocks.js';
import { FilterForm, type ListPosition, OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { REQUESTS_PATH } from '../paths.js';
import { KeyName, RefusalReason } from '../usage/request-cells.js';
import { receiptPage } from '../usage/receipt-page.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { AccountName, type Emails } from './account-name.js';
import { OperatorOnly } from './operator-only.decorator.js';
import { MAX_KEY_LENGTH, OUTCOMES, outcomesOf, requestQueryIn, type RequestQuery } from './request-filter.js';
import { RequestTable } from './request-table.js';

/** No request began before. */
const LONG_AGO = new Date(0);
const NONE: FoundRequests = { requests: [], next: undefined };

/** The pages of operators with the requests of all accounts, and with the facts about one request. */
@PageController(REQUESTS_PATH)
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
  async list(@CurrentVisit() { accountId: operatorId, query: values, response }: Visit): Promise<void> {
    const query = requestQueryIn(values);
    const before = positionIn(values);
    const [{ requests, next }, emails, isUnknownAccount] = await this.semaphore.run(operatorId, async () => {
      const accountId = await this.accountIdOf(query);
      const isUnknown = accountId === undefined && query.account !== undefined;
      const list = isUnknown ? NONE : await this.search.list(this.filterOf(query, accountId, before), PAGE_SIZE);
      const ids = list.requests.map((each) => (each.kind === 'stream' ? each.stream : each.refused).accountId);
      return [list, await this.accounts.emailsOf([...new Set(ids)]), isUnknown] as const;
    });
    const content = (
      <div class="usage">
        <h1>Requests</h1>
        <RequestFilterForm query={query} models={this.models.all().map(({ id }) => id)} />
        <Notice>
          {isUnknownAccount ? 'No account has this email. Search for deleted accounts by ID.' : undefined}
        </Notice>
        <RequestTable
          requests={requests}
          empty={
            next === undefined ? 'No request matches.' : 'None of the latest requests match. Look at older requests.'
          }
          emails={emails}
        />
        <OlderLinks path={REQUESTS_PATH} filter={query} before={before} next={next} />
        <p class="fine">
          Latest first. Times are in UTC. Running streams appear when they end. Refused requests are a sample: of
          similar requests in a minute, the first 5 and the last are kept, for 7 days. Requests without a known account
          or key are only counted, on the page Status. Prompts and answers are not stored.
        </p>
      </div>
    );
    this.pages.send(response, { title: 'Requests', section: 'requests', width: 'wide', content, style: 'usage.css' });
  }

  @Get('streams/:id')
  async receipt(@Param('id') id: string, @CurrentVisit() { accountId: operatorId, response }: Visit): Promise<void> {
    const [stream, emails] = await this.found(operatorId, () => this.streams.findRecord(id));
    const account = <AccountName id={stream.accountId} emails={emails} />;
    this.pages.send(response, receiptPage({ stream, keys: [], account, section: 'requests', list: REQUESTS_PATH }));
  }

  @Get('refused/:id')
  async refusal(@Param('id') id: string, @CurrentVisit() { accountId: operatorId, response }: Visit): Promise<void> {
    const [refused, emails] = await this.found(operatorId, () => this.refused.find(id));
    const { method, route, model, similar } = refused;
    const content = (
      <div class="usage">
        <h1>Refused request</h1>
        <p>
          <a href={REQUESTS_PATH}>← Requests</a>
        </p>
        <Facts
          facts={[
            ['Request ID', <code>{refused.requestId}</code>],
            ['Status', <span class="badge bad">{`Refused: ${refused.status}`}</span>],
            ['Error', <code>{refused.errorCode}</code>],
            refused.reason !== null && ['Reason', <RefusalReason refused={refused} />],
            refused.message !== null && ['Message', refused.message],
            ['Account', <AccountName id={refused.accountId} emails={emails} />],
            ['Key', <KeyName {...refused} keys={[]} />],
            ['Request', <code>{`${method} ${route ?? '(no route)'}`}</code>],
            ['Model', model === null ? 'Unknown' : <code>{model}</code>],
            ['Time', <Moment at={new Date(refused.refusedAt)} withSeconds withZone />],
            similar > 0 && ['Similar requests', `${count(similar)} more in the same minute`],
          ]}
        />
        <p class="fine">A refused request costs nothing and has no receipt.</p>
      </div>
    );
    this.pages.send(response, { title: 'Refused request', section: 'requests', content, style: 'usage.css' });
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

  private filterOf(
    { request: requestId, key, model, outcome }: RequestQuery,
    accountId: string | undefined,
    before: ListPosition | undefined,
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

interface RequestFilterFormProps {
  readonly query: RequestQuery;
  readonly models: readonly string[];
}

function RequestFilterForm({ query, models }: RequestFilterFormProps) {
  const { request, account, key, model, outcome } = query;
  return (
    <FilterForm
      path={REQUESTS_PATH}
      fields={[
        { label: 'Request ID', name: 'request', type: 'search', value: request, maxLength: 128 },
        { label: 'Account', name: 'account', type: 'search', value: account, placeholder: 'email or ID' },
        {
          label: 'Key',
          name: 'key',
          type: 'search',
          value: key,
          maxLength: MAX_KEY_LENGTH,
          placeholder: 'prefix or ID',
        },
        { label: 'Model', name: 'model', type: 'search', suggestions: models, value: model },
        { label: 'Outcome', name: 'outcome', type: 'select', options: OUTCOMES, value: outcome },
      ]}
      button="Search"
    />
  );
}
