import { Body, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { ApiKeyRotation } from '../../accounts/api-keys/api-key-rotation.js';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { KeyCreationLimit } from '../../auth/attempts/key-creation-limit.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import { sessionIdOf, type Principal } from '../../auth/principal/principal.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { problemsOf } from '../forms/field-problems.js';
import { expectMadeFor, type MadeForField } from '../forms/made-for.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { KeyList } from './key-list.js';
import { expiryOf, overlapOf } from './lifetimes.js';
import { RotateView } from './rotate-view.js';

interface RotationForm extends MadeForField {
  readonly old_key_ends_in_hours?: string;
  readonly expires_in_days?: string;
  readonly id?: string;
}

const PAGE = { place: 'api-keys', width: 'narrow', script: 'api-keys.js' } as const satisfies Partial<Page>;

@PageController('settings/api-keys/:id/rotate')
@SessionOnly()
export class KeyRotationController {
  constructor(
    private readonly pages: Pages,
    private readonly list: KeyList,
    private readonly keys: ApiKeysService,
    private readonly rotation: ApiKeyRotation,
    private readonly limit: KeyCreationLimit,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async ask(
    @Param('id') id: string,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const apiKey = await this.keys.find(id, accountId);
    const content = RotateView({ accountId, apiKey, nextId: randomUUID() });
    this.pages.send(response, { ...PAGE, title: `Rotate ${apiKey.name}`, content });
  }

  /** Rotates the key, and answers with a page that shows the new key, like the form that creates a key. */
  @Post()
  @Form()
  async rotate(
    @Param('id') id: string,
    @Body() form: RotationForm,
    @CurrentSession() session: VerifiedSession,
    @CurrentPrincipal() principal: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    const { old_key_ends_in_hours: hours, expires_in_days: lifetime, id: newId } = form;
    const { accountId } = principal;
    const old = await this.keys.find(id, accountId);
    try {
      const overlapMs = overlapOf(hours);
      const expiresAt = expiryOf(lifetime, this.now());
      const rotation = { overlapMs, expiresAt, id: newId, sessionId: sessionIdOf(principal) };
      const { created, oldEndsAt } = await this.limit.count(accountId, () =>
        this.rotation.rotate(id, accountId, rotation),
      );
      const newKey = this.list.newKey(created, request, { prefix: old.prefix, endsAt: oldEndsAt });
      this.pages.send(response, await this.list.page(accountId, { newKey }), 201);
    } catch (error) {
      const problems = problemsOf(error, response.req);
      const content = RotateView({ accountId, apiKey: old, nextId: randomUUID(), problems });
      this.pages.sendFailure(response, { ...PAGE, title: `Error: Rotate ${old.name}`, content }, problems.error);
    }
  }
}
