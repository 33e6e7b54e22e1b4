import { Body, Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { expectMadeFor, type MadeForField } from '../forms/made-for.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { RevokeView } from './revoke-view.js';

const LIST = '/settings/api-keys';

@PageController('settings/api-keys/:id/revoke')
@SessionOnly()
export class KeyRevocationController {
  constructor(
    private readonly pages: Pages,
    private readonly keys: ApiKeysService,
  ) {}

  /** Shows the page that asks the user to confirm the revocation. */
  @Get()
  async ask(
    @Param('id') id: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const apiKey = await this.keys.find(id, accountId);
    if (apiKey.revokedAt !== null) {
      this.pages.leadTo(response, `${LIST}?done=revoked`);
      return;
    }
    const content = RevokeView({ accountId, apiKey, path: `${LIST}/${id}/revoke`, back: LIST });
    this.pages.send(response, { title: `Revoke ${apiKey.name}`, place: 'api-keys', width: 'narrow', content });
  }

  @Post()
  @Form()
  async revoke(
    @Param('id') id: string,
    @Body() form: MadeForField,
    @CurrentSession() session: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    await this.keys.revoke(id, session.account.id);
    this.pages.leadTo(response, `${LIST}?done=revoked`);
  }
}
