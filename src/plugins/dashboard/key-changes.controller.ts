import { applyDecorators, Body, Get, Inject, type Type } from '@nestjs/common';
import { accountIdOf, AccountsService, ApiKeysService } from '../../plugin-api/core/accounts.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { changesIn, type KeyForm } from './api-keys/key-form.js';
import { editingPage, revocationPage, type ShownKey } from './api-keys/key-pages.js';
import { OperatorActions } from './operator/operator-actions.js';
import { OperatorOnly } from './operator/operator-only.decorator.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from './page-controller.decorator.js';
import { Pages } from './pages.js';
import { accountPath, ACCOUNTS_PATH, API_KEYS_PATH } from './paths.js';

/** The pages that edit and revoke an API key: for its account, or for operators. */
function controllerOf(forOperators: boolean): Type {
  const [path, name] = forOperators ? [`${ACCOUNTS_PATH}/:id/keys`, 'key'] : [API_KEYS_PATH, 'id'];

  @PageController(path)
  @applyDecorators(...(forOperators ? [OperatorOnly()] : []))
  class KeyChangesController {
    constructor(
      private readonly pages: Pages,
      private readonly accounts: AccountsService,
      private readonly keys: ApiKeysService,
      private readonly actions: OperatorActions,
      @Inject(CONFIG) private readonly config: Config,
    ) {}

    @Get(`:${name}/edit`)
    async edit(@CurrentPageRequest() request: PageRequest): Promise<void> {
      const shown = await this.shownTo(request);
      this.pages.send(request.response, editingPage(shown, this.config.currency));
    }

    @PostForm(`:${name}/edit`)
    async change(@Body() form: KeyForm, @CurrentPageRequest() request: PageRequest): Promise<void> {
      const shown = await this.shownTo(request);
      const { key, accountId, owner } = shown;
      await this.pages.submit(
        request.response,
        async () => {
          await this.keys.update(key.id, changesIn(form), owner?.id ?? accountId, request.author);
          this.done(request, shown, 'changed');
        },
        (problems) => editingPage(shown, this.config.currency, form, problems),
      );
    }

    @Get(`:${name}/revoke`)
    async confirmRevocation(@CurrentPageRequest() request: PageRequest): Promise<void> {
      const shown = await this.shownTo(request);
      if (shown.key.revokedAt === null) this.pages.send(request.response, revocationPage(shown));
      else this.pages.redirect(request.response, pathAfter(shown, 'revoked'));
    }

    @PostForm(`:${name}/revoke`)
    async revoke(@CurrentPageRequest() request: PageRequest): Promise<void> {
      const shown = await this.shownTo(request);
      await this.keys.revoke(shown.key.id, shown.owner?.id ?? shown.accountId, request.author);
      this.done(request, shown, 'revoked');
    }

    private async shownTo({ accountId, response }: PageRequest): Promise<ShownKey> {
      const { [name]: keyId = '', id = '' } = response.req.params as Readonly<Record<string, string>>;
      if (!forOperators) return { accountId, key: await this.keys.find(keyId, accountId) };
      const { email } = await this.accounts.get({ id: accountIdOf(id) });
      return { accountId, key: await this.keys.find(keyId, id), owner: { id, email, path: accountPath(id) } };
    }

    /** The log has what operators do. */
    private done(request: PageRequest, shown: ShownKey, what: 'changed' | 'revoked'): void {
      const next = pathAfter(shown, what);
      const { key, owner } = shown;
      if (owner === undefined) this.pages.redirect(request.response, next);
      else this.actions.done(request, `An API key was ${what}`, { accountId: owner.id, keyId: key.id }, next);
    }
  }
  return KeyChangesController;
}

function pathAfter({ owner }: ShownKey, what: 'changed' | 'revoked'): string {
  return `${owner?.path ?? API_KEYS_PATH}?done=${what}`;
}

export const KEY_CHANGES_CONTROLLERS = [false, true].map(controllerOf);
