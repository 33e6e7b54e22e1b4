import { Get, Inject, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeyUpdates } from '../../accounts/api-keys/api-key-updates.js';
import { ApiKeysService, type ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { authorOf } from '../../auth/session/change-author.decorator.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CONFIG, type Config } from '../../config/config.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { Confirmation } from '../parts/confirmation.js';
import { PATH } from './api-keys-view.js';
import { changesIn, fieldsOf, type KeyForm } from './key-form.js';
import { keyFacts } from './listed-keys.js';

/** The page that changes the name and the limits of a key. */
@PageController(`${PATH.slice(1)}/:id/edit`)
@SessionOnly()
export class KeyEditingController {
  constructor(
    private readonly pages: Pages,
    private readonly keys: ApiKeysService,
    private readonly updates: ApiKeyUpdates,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async show(
    @Param('id') id: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    this.pages.send(response, this.editingPage(accountId, await this.keys.find(id, accountId)));
  }

  @Post()
  @Form()
  async change(
    @Param('id') id: string,
    @AccountForm() form: KeyForm,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const key = await this.keys.find(id, accountId);
    await this.pages.submit(
      response,
      async () => {
        await this.updates.update(id, changesIn(form), accountId, authorOf(response.req));
        this.pages.leadTo(response, `${PATH}?done=changed`);
      },
      (problems) => this.editingPage(accountId, key, problems),
    );
  }

  private editingPage(accountId: string, key: ListedApiKey, problems?: FormProblems): Page {
    const content = Confirmation({
      title: `Edit “${key.name}”`,
      children: 'Every replica applies a change within a second. Running streams go on.',
      facts: keyFacts(key),
      action: `${PATH}/${key.id}/edit`,
      accountId,
      fields: fieldsOf(key, this.config.currency),
      button: 'Save',
      cancel: PATH,
      problems,
    });
    return { title: `Edit ${key.name}`, section: 'api-keys', width: 'narrow', content };
  }
}
