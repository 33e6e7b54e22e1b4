import { Body, Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../accounts/api-keys/api-keys.service.js';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { Form } from '../../../http/body/form/form.decorator.js';
import { RevokeView } from '../../api-keys/revoke-view.js';
import { expectMadeFor, type MadeForField } from '../../forms/made-for.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { accountIdOf, accountPath, ACCOUNTS_ROUTE } from '../account-path.js';
import { OperatorLog } from '../operator-log.js';
import { OperatorOnly } from '../operator-only.decorator.js';

/** Revokes a key of any account, for operators. */
@PageController(`${ACCOUNTS_ROUTE}/:id/keys/:key/revoke`)
@OperatorOnly()
export class OperatedKeyController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
    private readonly log: OperatorLog,
  ) {}

  /** Shows the page that asks the operator to confirm. */
  @Get()
  async ask(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const account = await this.accounts.get({ id: accountIdOf(id) });
    const apiKey = await this.keys.find(keyId, id);
    const back = accountPath(id);
    if (apiKey.revokedAt !== null) {
      this.pages.leadTo(response, `${back}?done=revoked`);
      return;
    }
    const content = RevokeView({
      accountId: operator.id,
      apiKey,
      owner: account.email,
      path: accountPath(id, `keys/${keyId}/revoke`),
      back,
    });
    this.pages.send(response, { title: `Revoke ${apiKey.name}`, place: 'accounts', width: 'narrow', content });
  }

  @Post()
  @Form()
  async revoke(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @Body() form: MadeForField,
    @CurrentSession() session: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    await this.keys.revoke(keyId, accountIdOf(id));
    this.log.write('An API key was revoked', { operatorId: session.account.id, accountId: id, keyId });
    this.pages.leadTo(response, `${accountPath(id)}?done=revoked`);
  }
}
