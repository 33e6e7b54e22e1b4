import { Get, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Public } from '../../http/routing/public.decorator.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { RecentStreams } from '../../usage/reports/recent-streams.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { FrontView } from './front-view.js';
import { HOME } from './home.js';
import { StartView } from './start-view.js';

/** Before any request of the service was made. */
const LONG_AGO = new Date(0);

/** The page at `/`: what the service is, for visitors; the first steps, for an account without any request. */
@PageController()
export class HomeController {
  constructor(
    private readonly pages: Pages,
    private readonly models: ModelCatalog,
    private readonly keys: ApiKeysService,
    private readonly streams: RecentStreams,
    private readonly semaphore: ReportSemaphore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  @Public()
  @LimitedByBudget('pages')
  async show(@CurrentSession() session: VerifiedSession | undefined, @Res() response: Response): Promise<void> {
    if (session === undefined) {
      const content = FrontView({ models: this.models.all(), signUp: this.pages.signUp, hasDocs: this.pages.hasDocs });
      this.pages.send(response, { title: 'Home', content });
      return;
    }
    const accountId = session.account.id;
    const period = { from: LONG_AGO, to: new Date(this.now() + 1) };
    const [byPage, byKey, keyCount] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.streams.list(accountId, { ...period, key: 'session' }, 1),
        this.streams.list(accountId, { ...period, credential: 'api_key' }, 1),
        this.keys.count(accountId),
      ]),
    );
    const steps = {
      hasChatted: byPage.streams.length > 0,
      hasKey: keyCount > 0,
      hasCalled: byKey.streams.length > 0,
      hasDocs: this.pages.hasDocs,
    };
    if (steps.hasCalled) this.pages.leadTo(response, HOME);
    else this.pages.send(response, { title: 'Get started', content: StartView(steps) });
  }
}
