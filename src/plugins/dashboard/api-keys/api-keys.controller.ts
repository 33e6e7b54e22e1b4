import { Body, Get, Inject, Param } from '@nestjs/common';
import { ApiKeysService } from '../../../plugin-api/core/accounts.js';
import { KeyCreationLimit } from '../../../plugin-api/core/auth.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { ReportSemaphore } from '../../../plugin-api/core/usage.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { API_KEYS_PATH } from '../paths.js';
import { changesIn, expiryOf, overlapOf, type NewKeyForm } from './key-form.js';
import { KeyList } from './key-list.js';
import { rotationPage } from './key-pages.js';

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
