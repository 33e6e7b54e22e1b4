import { Get, Inject, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { utcDay } from '../../common/utc-day.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { LimitStore } from '../../throttling/limit-store.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { ReportGate } from '../../usage/reports/report-gate.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { optionalPart } from '../optional-part.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { daysOf, lastDays } from './usage-days.js';
import { usageCsv } from './usage-csv.js';
import { filterOf, passes } from './usage-filter.js';
import { UsageTotals } from './usage-totals.js';
import { UsageView } from './usage-view.js';

const LATEST_REQUESTS = 10;

@PageController('usage')
@SessionOnly()
export class UsagePageController {
  constructor(
    private readonly pages: Pages,
    private readonly reports: UsageReports,
    private readonly streams: RecentStreams,
    private readonly gate: ReportGate,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    @Inject(LimitStore) private readonly limits: LimitStore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(
    @Query() query: Readonly<Record<string, unknown>>,
    @CurrentPrincipal() { accountId, tier }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const filter = filterOf(query);
    const { model, key } = filter;
    const period = lastDays(filter.range, this.now());
    const [totals, latest, keys, state] = await this.gate.run(accountId, () =>
      Promise.all([
        optionalPart(
          new UsageTotals((row) => passes(filter, row)).read(this.reports, accountId, period.from, period.to),
        ),
        optionalPart(this.streams.list(accountId, { ...period, model, key }, LATEST_REQUESTS)),
        optionalPart(this.keys.list(accountId)),
        optionalPart(this.limits.peek(accountId, tier)),
      ]),
    );
    const all = this.models.all();
    const content = UsageView({
      filter,
      models: all.map(({ id }) => id),
      latest: latest?.streams,
      days: daysOf(period),
      totals,
      keys,
      hasPrices: all.some(({ price }) => price !== undefined),
      tier,
      state,
    });
    this.pages.send(response, {
      title: 'Usage',
      place: 'usage',
      width: 'wide',
      content,
      style: 'usage.css',
      script: 'usage/charts.js',
    });
  }

  /** The rows of the tables as a file, by day, model and key. */
  @Get('export.csv')
  async download(
    @Query() query: Readonly<Record<string, unknown>>,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const filter = filterOf(query);
    const { from, to } = lastDays(filter.range, this.now());
    const rows = await this.gate.run(accountId, () => this.reports.daily(accountId, from, to));
    const body = Buffer.from(usageCsv(rows.filter((row) => passes(filter, row))));
    response.writeHead(200, {
      'Cache-Control': 'no-store',
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="usage-${utcDay(from)}-${filter.range}-days.csv"`,
      'Content-Length': body.length,
    });
    response.end(body);
  }
}
