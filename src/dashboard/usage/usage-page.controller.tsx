import { Get, Inject } from '@nestjs/common';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { utcDay } from '../../common/utc-day.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { RefusedRequests } from '../../observability/refusals/refused-requests.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { LimitStore } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/tier-limits.js';
import { SpendBudgets } from '../../usage/budgets/spend-budgets.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { USAGE_FIGURES, wireUsage } from '../../usage/reports/report-json.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { UsageReports, type UsageRow } from '../../usage/reports/usage-reports.js';
import { optionalPart } from '../optional-part.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { csvOf, sendCsv } from '../parts/csv-file.js';
import { pathWith } from '../parts/query.js';
import { Section } from '../parts/blocks.js';
import { API_KEYS_PATH, OWN_REQUESTS_PATH, PLAYGROUND_PATH, REFUSED_PATH, USAGE_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { budgetCosts, BudgetSection } from './budget-section.js';
import { LimitsSection } from './limits-section.js';
import { RefusedTable } from './refused-table.js';
import { RequestTable, streamCosts } from './request-table.js';
import { decimalsOf } from './sum-texts.js';
import { daysOf, lastDays } from './usage-days.js';
import { filterIn, offeredModels, passes, type UsageFilter } from './usage-filter.js';
import { UsageSection } from './usage-section.js';
import { UsageTotals } from './usage-totals.js';

const LATEST_REQUESTS = 10;
const LATEST_REFUSED = 5;
/** Of the file. */
const COLUMNS = ['day', 'model', 'key_id', 'key_prefix', ...USAGE_FIGURES] as const;

/** The page with the limits and the usage of an account. */
@PageController(USAGE_PATH)
@LimitedByBudget('pages')
@SessionOnly()
export class UsagePageController {
  constructor(
    private readonly pages: Pages,
    private readonly reports: UsageReports,
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
    private readonly semaphore: ReportSemaphore,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    private readonly budgets: SpendBudgets,
    @Inject(LimitStore) private readonly limits: LimitStore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(@CurrentVisit() { accountId, session, query, response }: Visit): Promise<void> {
    const { tier } = session.account;
    const filter = filterIn(query);
    const { model, key } = filter;
    const period = lastDays(filter.days, this.now());
    const totals = new UsageTotals((row) => passes(filter, row));
    const [read, latest, refused, keys, state, budget] = await this.semaphore.run(accountId, () =>
      Promise.all([
        optionalPart(totals.read(this.reports, accountId, period.from, period.to)),
        optionalPart(this.streams.list(accountId, { ...period, model, key }, LATEST_REQUESTS)),
        optionalPart(this.refused.listIn(period, { accountId, model, key }, undefined, LATEST_REFUSED)),
        optionalPart(this.keys.list(accountId)),
        optionalPart(this.limits.peek(accountId, limitsOf(tier))),
        optionalPart(this.budgets.stateOfAccount(accountId, tier)),
      ]),
    );
    const { streams = [] } = latest ?? {};
    const { rows: refusals = [] } = refused ?? {};
    const models = this.models.all();
    const decimals = decimalsOf([...(read?.costs ?? []), ...budgetCosts(budget), ...streamCosts(streams)]);
    const content = (
      <div class="usage">
        <h1>Usage</h1>
        <LimitsSection tier={tier} state={state} />
        <BudgetSection budget={budget} decimals={decimals} />
        <UsageSection
          title="Your usage"
          path={USAGE_PATH}
          download={`${USAGE_PATH}/export.csv`}
          filter={filter}
          models={offeredModels(models, read?.models ?? [])}
          days={daysOf(period)}
          totals={read}
          keys={keys}
          hasPrices={models.some(({ price }) => price !== undefined)}
          decimals={decimals}
        >
          <p>
            Chat in the <a href={PLAYGROUND_PATH}>playground</a>, or create a key under{' '}
            <a href={API_KEYS_PATH}>API keys</a> and call the API from your code. Each request appears here a moment
            after its answer ends.
          </p>
        </UsageSection>
        {streams.length === 0 ? null : (
          <Section
            id="latest"
            title="Latest requests"
            link={<a href={pathWith(OWN_REQUESTS_PATH, { ...filter })}>All requests</a>}
          >
            <RequestTable streams={streams} keys={keys} decimals={decimals} />
          </Section>
        )}
        {refusals.length === 0 ? null : (
          <Section id="refused" title="Refused requests" link={<a href={REFUSED_PATH}>All refused requests</a>}>
            <RefusedTable refused={refusals} keys={keys} />
          </Section>
        )}
      </div>
    );
    const page = { title: 'Usage', section: 'usage', width: 'wide', style: 'usage.css' } as const;
    this.pages.send(response, { ...page, script: 'usage/charts.js', content });
  }

  /** The rows of the tables as a file, by day, model and key. */
  @Get('export.csv')
  async download(@CurrentVisit() { accountId, query, response }: Visit): Promise<void> {
    const filter = filterIn(query);
    const { from, to } = lastDays(filter.days, this.now());
    const body = await this.semaphore.run(accountId, () =>
      csvOf({
        columns: COLUMNS,
        pages: shownRows(filter, this.reports.dailyPages(accountId, from, to)),
        rowOf: (row) => ({
          ...{ day: row.day, model: row.model, key_id: row.keyId ?? row.credential, key_prefix: row.keyPrefix },
          ...wireUsage(row),
        }),
      }),
    );
    sendCsv(response, `usage-${utcDay(from)}-${filter.days}-days.csv`, body);
  }
}

async function* shownRows(
  filter: UsageFilter,
  pages: AsyncIterable<readonly UsageRow[]>,
): AsyncIterable<readonly UsageRow[]> {
  for await (const rows of pages) yield rows.filter((row) => passes(filter, row));
}
