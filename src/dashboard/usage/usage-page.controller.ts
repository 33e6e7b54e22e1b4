import { Get, Inject, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { utcDay } from '../../common/utc-day.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { RefusedRequests } from '../../observability/refusals/refused-requests.js';
import { LimitStore } from '../../throttling/limit-store.js';
import { limitsOf } from '../../throttling/tier-limits.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { SpendBudgets } from '../../usage/budgets/spend-budgets.js';
import { USAGE_FIGURES, wireUsage } from '../../usage/reports/report-json.js';
import { UsageReports, type UsageRow } from '../../usage/reports/usage-reports.js';
import { optionalPart } from '../optional-part.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { csvOf, sendCsv } from '../parts/csv-file.js';
import type { QueryValues } from '../parts/query.js';
import { daysOf, lastDays } from './usage-days.js';
import { filterIn, offeredModels, passes, type UsageFilter } from './usage-filter.js';
import { UsageTotals } from './usage-totals.js';
import { UsageView } from './usage-view.js';

const LATEST_REQUESTS = 10;
const LATEST_REFUSED = 5;
/** Of the file. */
const COLUMNS = ['day', 'model', 'key_id', 'key_prefix', ...USAGE_FIGURES] as const;

@PageController('usage')
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
  async show(
    @Query() query: QueryValues,
    @CurrentPrincipal() { accountId, tier }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const filter = filterIn(query);
    const { model, key } = filter;
    const period = lastDays(filter.days, this.now());
    const [totals, latest, refused, keys, state, budget] = await this.semaphore.run(accountId, () =>
      Promise.all([
        optionalPart(
          new UsageTotals((row) => passes(filter, row)).read(this.reports, accountId, period.from, period.to),
        ),
        optionalPart(this.streams.list(accountId, { ...period, model, key }, LATEST_REQUESTS)),
        optionalPart(this.refused.listIn(period, { accountId, model, key }, undefined, LATEST_REFUSED)),
        optionalPart(this.keys.list(accountId)),
        optionalPart(this.limits.peek(accountId, limitsOf(tier))),
        optionalPart(this.budgets.stateOfAccount(accountId, tier)),
      ]),
    );
    const all = this.models.all();
    const content = UsageView({
      filter,
      models: offeredModels(all, totals?.models ?? []),
      latest: latest?.streams,
      refused: refused?.rows,
      days: daysOf(period),
      totals,
      keys,
      hasPrices: all.some(({ price }) => price !== undefined),
      tier,
      state,
      budget,
    });
    this.pages.send(response, {
      title: 'Usage',
      section: 'usage',
      width: 'wide',
      content,
      style: 'usage.css',
      script: 'usage/charts.js',
    });
  }

  /** The rows of the tables as a file, by day, model and key. */
  @Get('export.csv')
  async download(
    @Query() query: QueryValues,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
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
