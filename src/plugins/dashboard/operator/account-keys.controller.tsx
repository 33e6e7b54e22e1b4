import { Body, Get, Inject, Param } from '@nestjs/common';
import { accountIdOf, AccountsService, ApiKeysService, ApiKeyUpdates } from '../../../plugin-api/core/accounts.js';
import { KeyCreationLimit } from '../../../plugin-api/core/auth.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { changesIn, expiryOf, type KeyForm } from '../api-keys/key-form.js';
import { CreationForm } from '../api-keys/key-list.js';
import { editingPage, revocationPage, type KeyOwner } from '../api-keys/key-pages.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { Page } from '../layout/layout.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { accountPath, ACCOUNTS_PATH } from '../paths.js';
import { OperatorActions } from './operator-actions.js';
import { OperatorOnly } from './operator-only.decorator.js';

interface NewKeyForm extends KeyForm {
  readonly expires_in_days?: string;
  readonly id?: string;
}

/** The pages on which an operator creates, edits and revokes the API keys of an account. */
@PageController(`${ACCOUNTS_PATH}/:id/keys`)
@OperatorOnly()
export class AccountKeysController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
    private readonly updates: ApiKeyUpdates,
    private readonly limit: KeyCreationLimit,
    private readonly actions: OperatorActions,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get('new')
  async form(@Param('id') id: string, @CurrentPageRequest() { accountId, response }: PageRequest): Promise<void> {
    this.pages.send(response, this.creationPage(await this.owner(id), accountId));
  }

  /** Creates a key, and answers with a page that shows it. */
  @PostForm('new')
  async create(
    @Param('id') id: string,
    @Body() { expires_in_days: lifetime, id: keyId, ...form }: NewKeyForm,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    const owner = await this.owner(id);
    await this.pages.submit(
      request.response,
      async () => {
        const newKey = { ...changesIn(form), expiresAt: expiryOf(lifetime, this.now()), id: keyId };
        const created = await this.limit.count(id, () => this.keys.create(id, newKey, request.author));
        this.actions.showOnce(request, {
          msg: 'An API key was created',
          subject: { accountId: id, keyId: created.id },
          title: 'New key',
          heading: `New key for ${owner.email}`,
          what: 'key',
          name: created.name,
          secret: created.key,
          advice: 'Send it to the user over a safe channel: whoever has the key can use the account.',
          next: owner.path,
        });
      },
      (problems) => this.creationPage(owner, request.accountId, { form, lifetime, problems }),
    );
  }

  @Get(':key/edit')
  async edit(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentPageRequest() { accountId, response }: PageRequest,
  ): Promise<void> {
    const owner = await this.owner(id);
    const key = await this.keys.find(keyId, id);
    this.pages.send(response, editingPage({ accountId, key, currency: this.config.currency, owner }));
  }

  @PostForm(':key/edit')
  async change(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @Body() form: KeyForm,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    const { accountId: operatorId, author, response } = request;
    const owner = await this.owner(id);
    const key = await this.keys.find(keyId, id);
    await this.pages.submit(
      response,
      async () => {
        await this.updates.update(keyId, changesIn(form), id, author);
        this.actions.done(request, 'An API key was changed', { accountId: id, keyId }, `${owner.path}?done=changed`);
      },
      (problems) => editingPage({ accountId: operatorId, key, currency: this.config.currency, form, problems, owner }),
    );
  }

  @Get(':key/revoke')
  async confirmRevocation(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentPageRequest() { accountId: operatorId, response }: PageRequest,
  ): Promise<void> {
    const owner = await this.owner(id);
    const key = await this.keys.find(keyId, id);
    if (key.revokedAt !== null) this.pages.redirect(response, `${owner.path}?done=revoked`);
    else this.pages.send(response, revocationPage(operatorId, key, owner));
  }

  @PostForm(':key/revoke')
  async revoke(
    @Param('id') id: string,
    @Param('key') keyId: string,
    @CurrentPageRequest() request: PageRequest,
  ): Promise<void> {
    await this.keys.revoke(keyId, accountIdOf(id), request.author);
    this.actions.done(request, 'An API key was revoked', { accountId: id, keyId }, `${accountPath(id)}?done=revoked`);
  }

  private creationPage(owner: KeyOwner, operatorId: string, entered: EnteredKey = {}): Page {
    const content = (
      <>
        <h1 class="breaks">New key for {owner.email}</h1>
        <p>
          <a href={owner.path}>← Account</a>
        </p>
        <CreationForm
          action={`${owner.path}/keys/new`}
          accountId={operatorId}
          currency={this.config.currency}
          {...entered}
        />
      </>
    );
    return { title: 'New key', section: 'accounts', script: 'api-keys.js', content };
  }

  private async owner(id: string): Promise<KeyOwner> {
    const { email } = await this.accounts.get({ id: accountIdOf(id) });
    return { email, path: accountPath(id) };
  }
}

interface EnteredKey {
  readonly form?: KeyForm;
  readonly lifetime?: string | undefined;
  readonly problems?: FormProblems;
}
