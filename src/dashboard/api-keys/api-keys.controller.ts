import { Body, Get, Inject, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiKeysService } from '../../accounts/api-keys/api-keys.service.js';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { KeyCreationLimit } from '../../auth/attempts/key-creation-limit.js';
import { CurrentPrincipal } from '../../auth/principal/current-principal.decorator.js';
import { sessionIdOf, type Principal } from '../../auth/principal/principal.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { ReportGate } from '../../usage/reports/report-gate.js';
import { problemsOf } from '../forms/field-problems.js';
import { expectMadeFor, type MadeForField } from '../forms/made-for.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { keyFilterOf } from './key-filter.js';
import { KeyList } from './key-list.js';
import { expiryOf } from './lifetimes.js';

interface NewKeyForm extends MadeForField {
  readonly name?: string;
  readonly expires_in_days?: string;
  readonly id?: string;
}

@PageController('settings/api-keys')
@SessionOnly()
export class ApiKeysController {
  constructor(
    private readonly pages: Pages,
    private readonly list: KeyList,
    private readonly keys: ApiKeysService,
    private readonly limit: KeyCreationLimit,
    private readonly gate: ReportGate,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(
    @Query() query: Readonly<Record<string, unknown>>,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const done = query['done'] === 'revoked' ? 'The key was revoked.' : undefined;
    this.pages.send(
      response,
      await this.gate.run(accountId, () => this.list.page(accountId, { done }, keyFilterOf(query), query['page'])),
    );
  }

  /** Creates a key, and answers with a page that shows it. No later request can read the full key again. */
  @Post()
  @Form()
  async create(
    @Body() form: NewKeyForm,
    @CurrentSession() session: VerifiedSession,
    @CurrentPrincipal() principal: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    const { name = '', expires_in_days: lifetime, id } = form;
    const { accountId } = principal;
    try {
      const expiresAt = expiryOf(lifetime, this.now());
      const newKey = { name, expiresAt, id, sessionId: sessionIdOf(principal) };
      const created = await this.limit.count(accountId, () => this.keys.create(accountId, newKey));
      const shown = this.list.newKey(created, request);
      this.pages.send(response, await this.list.page(accountId, { newKey: shown }), 201);
    } catch (error) {
      const problems = problemsOf(error, response.req);
      const page = await this.list.page(accountId, { name, lifetime: lifetime ?? 'never', problems });
      this.pages.sendFailure(response, page, problems.error);
    }
  }
}
