import { Get, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { publicOriginOf } from '../../auth/same-origin/public-origin.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CONFIG, type Config } from '../../config/config.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { PlaygroundView } from './playground-view.js';

@PageController('playground')
@SessionOnly()
export class PlaygroundController {
  constructor(
    private readonly pages: Pages,
    private readonly models: ModelCatalog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  show(@CurrentPrincipal() { accountId, tier }: Principal, @Req() request: Request, @Res() response: Response): void {
    const origin = publicOriginOf(request);
    const keptSeconds = this.config.streamRetentionMs / 1000;
    this.pages.send(response, {
      title: 'Playground',
      section: 'playground',
      content: PlaygroundView({ models: this.models.all(), tier, accountId, origin, keptSeconds }),
      script: 'playground/playground.js',
      style: 'playground/playground.css',
      width: 'wide',
    });
  }
}
