import { Get, Inject } from '@nestjs/common';
import { ApiKeysService } from '../../../plugin-api/core/accounts.js';
import { DAY_MS, utcDay } from '../../../plugin-api/core/common.js';
import { ModelCatalog } from '../../../plugin-api/core/models.js';
import { RequestSearch } from '../requests/refused-requests.js';
import { RateLimited, limitsOf, LimitStore } from '../../../plugin-api/core/throttling.js';
import { ReportSemaphore, SpendBudgets, USAGE_FIGURES, wireUsage } from '../../../plugin-api/core/usage.js';
import { optionalPart, Pages } from '../pages.js';
import { CurrentPageRequest, PageController, type PageRequest } from '../page-controller.decorator.js';
import { csvOf, sendCsv } from '../parts/lists.js';
import { pathWith, API_KEYS_PATH, OWN_REQUESTS_PATH, PLAYGROUND_PATH, USAGE_PATH } from '../paths.js';
import { Section } from '../parts/blocks.js';
import { BudgetSection, LimitsSection } from './limits-section.js';
import { ownRequestPath, RequestTable } from './request-table.js';
import { filterIn, offeredModels } from './usage-filter.js';
import { UsageSection } from './usage-section.js';
import { UsageReader } from './usage-reader.js';
import { PartOf } from '../../../plugin-api/core/http.js';

const LATEST_REQUESTS = 10;
/** Of the file, after the day or the hour. */
const COLUMNS = ['model', 'key_id', 'key_prefix', ...USAGE_FIGURES] as const;

/** The page with the limits and the usage of an account. */
@PartOf('reports')
@PageController(USAGE_PATH)
@RateLimited('pages')
export class UsagePageController {
  constructor(
    private readonly pages: Pages,
    private readonly usage: UsageReader,
    private readonly search: RequestSearch,
    private readonly semaphore: ReportSemaphore,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    private readonly budgets: SpendBudgets,
    @Inject(LimitStore) private readonly limits: LimitStore,
  ) {}

  @Get()
  async show(@CurrentPageRequest() { accountId, session, query, response }: PageRequest): Promise<void> {
    const { tier } = session.account;
    const filter = filterIn(query);
    const { model, key } = filter;
    const period = this.usage.periodOf(filter);
    const [read, latest, keys, state, budget] = await this.semaphore.run(accountId, () =>
      Promise.all([
        optionalPart(this.usage.totals(filter, period, accountId)),
        optionalPart(this.search.list({ ...period, accountId, model, key }, LATEST_REQUESTS)),
        optionalPart(this.keys.list(accountId)),
        optionalPart(this.limits.peek(accountId, limitsOf(tier))),
        optionalPart(this.budgets.stateOfAccount(accountId, tier)),
      ]),
    );
    const requests = latest?.rows ?? [];
    const models = this.models.all();
    const content = (
      <div class="usage">
        <h1>Usage</h1>
        <LimitsSection tier={tier} state={state} />
        <BudgetSection budget={budget} />
        <UsageSection
          title="Your usage"
          path={USAGE_PATH}
          download={`${USAGE_PATH}/export.csv`}
          filter={filter}
          models={offeredModels(models, read?.models ?? [])}
          period={period}
          totals={read}
          keys={keys}
          hasPrices={models.some(({ price }) => price !== undefined)}
        >
          <p>
            Chat in the <a href={PLAYGROUND_PATH}>playground</a>, or create a key under{' '}
            <a href={API_KEYS_PATH}>API keys</a> and call the API from your code. Each request appears here a moment
            after its answer ends.
          </p>
        </UsageSection>
        {requests.length === 0 ? null : (
          <Section
            id="latest"
            title="Latest requests"
            link={
              <a href={pathWith(OWN_REQUESTS_PATH, { from: utcDay(period.from), to: filter.to, model, key })}>
                All requests
              </a>
            }
          >
            <RequestTable requests={requests} keys={keys} pathOf={ownRequestPath} hasNote />
          </Section>
        )}
      </div>
    );
    const page = { title: 'Usage', section: 'usage', width: 'wide', style: 'usage.css' } as const;
    this.pages.send(response, { ...page, script: 'usage/charts.js', content });
  }

  /** The rows of the tables as a file, by day or hour, model and key. */
  @Get('export.csv')
  async download(@CurrentPageRequest() { accountId, query, response }: PageRequest): Promise<void> {
    const filter = filterIn(query);
    const period = this.usage.periodOf(filter);
    const { unit, from, to } = period;
    const body = await this.semaphore.run(accountId, () =>
      csvOf({
        columns: [unit, ...COLUMNS],
        pages: this.usage.fileRows(filter, period, accountId),
        rowOf: (row) => ({
          ...{
            day: row.day,
            hour: row.day,
            model: row.model,
            key_id: row.keyId ?? row.credential,
            key_prefix: row.keyPrefix,
          },
          ...wireUsage(row),
        }),
      }),
    );
    const days = Math.round((to.getTime() - from.getTime()) / DAY_MS);
    sendCsv(response, `usage-${utcDay(from)}-${days}-days.csv`, body);
  }
}
