import { Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { RecentStreams, type StreamPosition } from '../../usage/reports/recent-streams.js';
import { ReportGate } from '../../usage/reports/report-gate.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { ReceiptView } from './receipt-view.js';
import { RequestsView } from './requests-view.js';
import { lastDays } from './usage-days.js';
import { filterOf } from './usage-filter.js';

type QueryValues = Readonly<Record<string, unknown>>;

const REQUESTS_PER_PAGE = 50;

@PageController('usage/requests')
@SessionOnly()
export class RequestsPageController {
  constructor(
    private readonly pages: Pages,
    private readonly streams: RecentStreams,
    private readonly gate: ReportGate,
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async list(
    @Query() query: QueryValues,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const filter = filterOf(query);
    const { range, model, key } = filter;
    const before = positionIn(query);
    const [list, keys] = await this.gate.run(accountId, () =>
      Promise.all([
        this.streams.list(accountId, { ...lastDays(range, this.now()), model, key, before }, REQUESTS_PER_PAGE),
        this.keys.list(accountId),
      ]),
    );
    const models = this.models.all().map(({ id }) => id);
    const content = RequestsView({ filter, list, models, keys, isFirstPage: before === undefined });
    this.pages.send(response, { title: 'Requests', place: 'usage', width: 'wide', content, style: 'usage.css' });
  }

  @Get(':request_id')
  async receipt(
    @Param('request_id') requestId: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const [stream, keys] = await this.gate.run(accountId, () =>
      Promise.all([this.streams.find(accountId, requestId), this.keys.list(accountId)]),
    );
    if (stream === undefined) throw new ServiceError('not_found', 'There is no receipt for this request.');
    const content = ReceiptView({ stream, keys });
    this.pages.send(response, { title: 'Receipt', place: 'usage', content, style: 'usage.css' });
  }
}

function positionIn({ before, id }: QueryValues): StreamPosition | undefined {
  if (typeof before !== 'string' || typeof id !== 'string' || Number.isNaN(Date.parse(before))) return undefined;
  return { startedAt: before, id };
}
