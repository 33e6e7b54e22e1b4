import { Get, Inject, Logger, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { LimitStore } from '../../throttling/limit-store.js';
import { ReportGate } from '../../usage/reports/report-gate.js';
import { UsageReports } from '../../usage/reports/usage-reports.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { daysOf, lastDays, rangeOf } from './usage-days.js';
import { UsageTotals } from './usage-totals.js';
import { UsageView } from './usage-view.js';

@PageController('usage')
@SessionOnly()
export class UsagePageController {
  private readonly logger = new Logger(UsagePageController.name);

  constructor(
    private readonly pages: Pages,
    private readonly reports: UsageReports,
    private readonly gate: ReportGate,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    @Inject(LimitStore) private readonly limits: LimitStore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(
    @Query('days') days: unknown,
    @CurrentPrincipal() { accountId, tier }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const range = rangeOf(days);
    const period = lastDays(range, this.now());
    const [totals, keys, state] = await this.gate.run(accountId, () =>
      Promise.all([
        this.orUndefined(new UsageTotals().read(this.reports, accountId, period.from, period.to)),
        this.orUndefined(this.keys.list(accountId)),
        this.orUndefined(this.limits.peek(accountId, tier)),
      ]),
    );
    const hasPrices = this.models.all().some(({ price }) => price !== undefined);
    const content = UsageView({ range, days: daysOf(period), totals, keys, hasPrices, tier, state });
    this.pages.send(response, { title: 'Usage', place: 'usage', content, style: 'usage.css' });
  }

  /** Returns `undefined` for a part of the page that fails, and logs the error. The other parts are still shown. */
  private async orUndefined<T>(part: Promise<T>): Promise<T | undefined> {
    try {
      return await part;
    } catch (error) {
      this.logger.error(error);
      return undefined;
    }
  }
}
