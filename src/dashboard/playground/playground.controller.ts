import { Get, Inject } from '@nestjs/common';
import { publicOriginOf } from '../../auth/same-origin/public-origin.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CONFIG, type Config } from '../../config/config.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { PLAYGROUND_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { PlaygroundView } from './playground-view.js';

@PageController(PLAYGROUND_PATH)
@SessionOnly()
export class PlaygroundController {
  constructor(
    private readonly pages: Pages,
    private readonly models: ModelCatalog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  show(@CurrentVisit() { accountId, session: { account }, response }: Visit): void {
    const origin = publicOriginOf(response.req);
    const keptSeconds = this.config.streamRetentionMs / 1000;
    const models = this.models.all();
    this.pages.send(response, {
      title: 'Playground',
      section: 'playground',
      content: PlaygroundView({ models, tier: account.tier, accountId, origin, keptSeconds }),
      script: 'playground/playground.js',
      style: 'playground/playground.css',
      width: 'wide',
    });
  }
}
