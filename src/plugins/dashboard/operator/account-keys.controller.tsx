import { Body, Get, Inject, Param } from '@nestjs/common';
import { accountIdOf, AccountsService, ApiKeysService } from '../../../plugin-api/core/accounts.js';
import { KeyCreationLimit } from '../../../plugin-api/core/auth.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../../plugin-api/core/config.js';
import { changesIn, expiryOf, type NewKeyForm } from '../api-keys/key-form.js';
import { CreationForm, type EnteredKey } from '../api-keys/key-list.js';
import type { KeyOwner } from '../api-keys/key-pages.js';
import type { Page } from '../layout/layout.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { BackLink } from '../parts/blocks.js';
import { accountPath, ACCOUNTS_PATH } from '../paths.js';
import { OperatorActions } from './operator-actions.js';
import { OperatorOnly } from './operator-only.decorator.js';

/** The pages on which an operator creates an API key of an account. */
@PageController(`${ACCOUNTS_PATH}/:id/keys`)
@OperatorOnly()
export class AccountKeysController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
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

  private creationPage(owner: KeyOwner, operatorId: string, entered: EnteredKey = {}): Page {
    const content = (
      <>
        <h1 class="breaks">New key for {owner.email}</h1>
        <BackLink to={owner.path}>Account</BackLink>
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
    return { id, email, path: accountPath(id) };
  }
}
