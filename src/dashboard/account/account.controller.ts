import { Body, Get, Ip, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { PasswordChange } from '../../auth/sign-in/password-change.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { problemsOf } from '../forms/field-problems.js';
import { expectMadeFor, type MadeForField } from '../forms/made-for.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { AccountView } from './account-view.js';

interface PasswordForm extends MadeForField {
  readonly current_password?: string;
  readonly new_password?: string;
  /** Browsers send this field only when the box is checked. */
  readonly revoke_keys?: string;
}

const PATH = '/settings/account';

@PageController('settings/account')
@SessionOnly()
export class AccountController {
  constructor(
    private readonly pages: Pages,
    private readonly passwords: PasswordChange,
    private readonly cookie: SessionCookie,
  ) {}

  @Get()
  show(
    @Query() { done, revoked }: Readonly<Record<string, unknown>>,
    @CurrentSession() { account }: VerifiedSession,
    @Res() response: Response,
  ): void {
    const changed = done === 'password' ? { revokedKeys: numberIn(revoked) } : undefined;
    const content = AccountView({ account, changed });
    this.pages.send(response, { title: 'Account', place: 'account', width: 'narrow', content });
  }

  @Post('password')
  @Form()
  async changePassword(
    @Body() form: PasswordForm,
    @CurrentSession() session: VerifiedSession,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    expectMadeFor(form, session);
    const { current_password: current = '', new_password: next = '', revoke_keys: revoke } = form;
    const revokeKeys = revoke !== undefined;
    let done = `${PATH}?done=password`;
    try {
      const changed = await this.passwords.change(session, { current, next, revokeKeys }, address);
      this.cookie.set(response, changed.token, changed.expiresAt);
      if (revokeKeys) done += `&revoked=${changed.revokedKeys}`;
    } catch (error) {
      const problems = problemsOf(error, response.req);
      const content = AccountView({ account: session.account, revokeKeys, problems });
      const page = { title: 'Error: Account', place: 'account', width: 'narrow', content } as const;
      this.pages.sendFailure(response, page, problems.error);
      return;
    }
    this.pages.leadTo(response, done);
  }
}

function numberIn(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}
