import { Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { randomUUID } from 'node:crypto';
import { ApiKeyRotation } from '../../accounts/api-keys/api-key-rotation.js';
import { ApiKeysService, type ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { KeyCreationLimit } from '../../auth/attempts/key-creation-limit.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import { sessionIdOf, type Principal } from '../../auth/principal/principal.js';
import { authorOf } from '../../auth/session/change-author.decorator.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import type { FormProblems } from '../forms/form-problems.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { Confirmation } from '../parts/confirmation.js';
import type { QueryValues } from '../parts/query.js';
import { PATH } from './api-keys-view.js';
import { KeyList } from './key-list.js';
import { expiryOf, LIFETIMES, overlapOf, OVERLAPS } from './lifetimes.js';
import { keyFacts } from './listed-keys.js';
import { revocationPage } from './revocation-page.js';

interface NewKeyForm {
  readonly name?: string;
  readonly expires_in_days?: string;
  readonly id?: string;
}

interface RotationForm extends NewKeyForm {
  readonly old_key_ends_in_hours?: string;
}

/** What the page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['revoked', 'The key was revoked.'],
  ['changed', 'The key was changed.'],
]);

@PageController('settings/api-keys')
@SessionOnly()
export class ApiKeysController {
  constructor(
    private readonly pages: Pages,
    private readonly list: KeyList,
    private readonly keys: ApiKeysService,
    private readonly rotation: ApiKeyRotation,
    private readonly limit: KeyCreationLimit,
    private readonly semaphore: ReportSemaphore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  @LimitedByBudget('pages')
  async show(
    @Query() query: QueryValues,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const done = DONE.get(query['done']);
    this.pages.send(response, await this.semaphore.run(accountId, () => this.list.page(accountId, { done }, query)));
  }

  /** Creates a key, and answers with a page that shows it. No later request can read the full key again. */
  @Post()
  @Form()
  async create(
    @AccountForm() { name = '', expires_in_days: lifetime, id }: NewKeyForm,
    @CurrentPrincipal() principal: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const { accountId } = principal;
    await this.pages.submit(
      response,
      async () => {
        const expiresAt = expiryOf(lifetime, this.now());
        const newKey = { name, expiresAt, id, sessionId: sessionIdOf(principal) };
        const created = await this.limit.count(accountId, () =>
          this.keys.create(accountId, newKey, authorOf(response.req)),
        );
        const shown = this.list.newKey(created, response.req);
        this.pages.send(response, await this.list.page(accountId, { newKey: shown }), 201);
      },
      (problems) => this.list.page(accountId, { name, lifetime, problems }),
    );
  }

  @Get(':id/rotate')
  async confirmRotation(
    @Param('id') id: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    this.pages.send(response, rotationPage(accountId, await this.keys.find(id, accountId)));
  }

  /** Rotates the key, and answers with a page that shows the new key, like the form that creates a key. */
  @Post(':id/rotate')
  @Form()
  async rotate(
    @Param('id') id: string,
    @AccountForm() { old_key_ends_in_hours: hours, expires_in_days: lifetime, id: newId }: RotationForm,
    @CurrentPrincipal() principal: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const { accountId } = principal;
    const old = await this.keys.find(id, accountId);
    await this.pages.submit(
      response,
      async () => {
        const overlapMs = overlapOf(hours);
        const expiresAt = expiryOf(lifetime, this.now());
        const rotation = { overlapMs, expiresAt, id: newId, sessionId: sessionIdOf(principal) };
        const { created, oldEndsAt } = await this.limit.count(accountId, () =>
          this.rotation.rotate(id, accountId, rotation, authorOf(response.req)),
        );
        const newKey = this.list.newKey(created, response.req, { prefix: old.prefix, endsAt: oldEndsAt });
        this.pages.send(response, await this.list.page(accountId, { newKey }), 201);
      },
      (problems) => rotationPage(accountId, old, problems),
    );
  }

  @Get(':id/revoke')
  async confirmRevocation(
    @Param('id') id: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const apiKey = await this.keys.find(id, accountId);
    if (apiKey.revokedAt !== null) this.pages.leadTo(response, `${PATH}?done=revoked`);
    else this.pages.send(response, revocationPage(accountId, apiKey, { action: `${PATH}/${id}/revoke`, cancel: PATH }));
  }

  @Post(':id/revoke')
  @Form()
  async revoke(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    await this.keys.revoke(id, accountId, authorOf(response.req));
    this.pages.leadTo(response, `${PATH}?done=revoked`);
  }
}

function rotationPage(accountId: string, apiKey: ListedApiKey, problems?: FormProblems): Page {
  const title = `Rotate ${apiKey.name}`;
  const content = Confirmation({
    title: `Rotate “${apiKey.name}”`,
    children: 'You get a new key with the same name. The old key keeps working while you deploy the new one.',
    facts: keyFacts(apiKey),
    action: `${PATH}/${apiKey.id}/rotate`,
    accountId,
    fields: [
      { label: 'Old key expires', name: 'old_key_ends_in_hours', type: 'select', options: OVERLAPS, value: '24' },
      { label: 'New key expires', name: 'expires_in_days', type: 'select', options: LIFETIMES, value: 'never' },
      // If a browser sends the form twice, the service still creates one key.
      { type: 'hidden', name: 'id', value: randomUUID() },
    ],
    button: 'Rotate',
    cancel: PATH,
    once: true,
    problems,
  });
  return { title, section: 'api-keys', width: 'narrow', script: 'api-keys.js', content };
}
