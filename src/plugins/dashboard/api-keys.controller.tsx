import { Body, Get, Inject, Param, applyDecorators, type Type } from '@nestjs/common';
import { ApiKeysService, accountIdOf, AccountsService } from '../../plugin-api/core/accounts.js';
import { KeyCreationLimit } from '../../plugin-api/core/auth.js';
import { type Clock, CLOCK } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { RateLimited } from '../../plugin-api/core/throttling.js';
import { ReportSemaphore } from '../../plugin-api/core/usage.js';
import {
  changesIn,
  expiryOf,
  overlapOf,
  type NewKeyForm,
  rotationPage,
  type KeyOwner,
  type KeyForm,
  editingPage,
  revocationPage,
  type ShownKey,
} from './api-keys/key-form.js';
import { KeyList, CreationForm, type EnteredKey } from './api-keys/key-list.js';
import type { Page } from './layout/layout.js';
import { OperatorActions, OperatorOnly } from './operator/operator-actions.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from './page-controller.decorator.js';
import { Pages } from './pages.js';
import { BackLink } from './parts/blocks.js';
import { API_KEYS_PATH, accountPath, ACCOUNTS_PATH } from './paths.js';

interface RotationForm extends Pick<NewKeyForm, 'expires_in_days' | 'id'> {
  readonly old_key_ends_in_hours?: string;
}

/** What the page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['revoked', 'The key was revoked.'],
  ['changed', 'The key was changed.'],
]);

/** The page with the keys of an account, and the pages that create and rotate a key. */
@PageController(API_KEYS_PATH)
export class ApiKeysController {
  constructor(
    private readonly pages: Pages,
    private readonly list: KeyList,
    private readonly keys: ApiKeysService,
    private readonly limit: KeyCreationLimit,
    private readonly semaphore: ReportSemaphore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  @RateLimited('pages')
  async show(@CurrentPageRequest() { accountId, query, response }: PageRequest): Promise<void> {
    const done = DONE.get(query['done']);
    this.pages.send(response, await this.semaphore.run(accountId, () => this.list.page(accountId, { done }, query)));
  }

  /** Creates a key, and answers with a page that shows it. No later request can read the full key again. */
  @PostForm()
  async create(
    @Body() { expires_in_days: lifetime, id, ...form }: NewKeyForm,
    @CurrentPageRequest() { accountId, session: { sessionId }, author, response }: PageRequest,
  ): Promise<void> {
    await this.pages.submit(
      response,
      async () => {
        const newKey = { ...changesIn(form), expiresAt: expiryOf(lifetime, this.now()), id, sessionId };
        const created = await this.limit.count(accountId, () => this.keys.create(accountId, newKey, author));
        const shown = this.list.newKey(created, response.req);
        this.pages.send(response, await this.list.page(accountId, { newKey: shown }), 201);
      },
      (problems) => this.list.page(accountId, { form, lifetime, problems }),
    );
  }

  @Get(':id/rotate')
  async confirmRotation(
    @Param('id') id: string,
    @CurrentPageRequest() { accountId, response }: PageRequest,
  ): Promise<void> {
    this.pages.send(response, rotationPage({ accountId, key: await this.keys.find(id, accountId) }));
  }

  /** Rotates the key, and answers with a page that shows the new key, like the form that creates a key. */
  @PostForm(':id/rotate')
  async rotate(
    @Param('id') id: string,
    @Body() { old_key_ends_in_hours: hours, expires_in_days: lifetime, id: newId }: RotationForm,
    @CurrentPageRequest() { accountId, session: { sessionId }, author, response }: PageRequest,
  ): Promise<void> {
    const key = await this.keys.find(id, accountId);
    await this.pages.submit(
      response,
      async () => {
        const overlapMs = overlapOf(hours);
        const rotation = { overlapMs, expiresAt: expiryOf(lifetime, this.now()), id: newId, sessionId };
        const { created, oldEndsAt } = await this.limit.count(accountId, () =>
          this.keys.rotate(id, accountId, rotation, author),
        );
        const newKey = this.list.newKey(created, response.req, { prefix: key.prefix, endsAt: oldEndsAt });
        this.pages.send(response, await this.list.page(accountId, { newKey }), 201);
      },
      (problems) => rotationPage({ accountId, key }, problems),
    );
  }
}

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
