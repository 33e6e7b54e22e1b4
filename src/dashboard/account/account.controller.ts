import { Body, Get, Ip, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions.service.js';
import { PasswordChange } from '../../auth/password-change.js';
import { CurrentSession } from '../../auth/request-session.js';
import { SessionCookie } from '../../auth/session-cookie.js';
import { SessionOnly } from '../../auth/session.guard.js';
import { Form } from '../../common/form.decorator.js';
import { problemsOf } from '../forms/field-problems.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { AccountView } from './account-view.js';

interface PasswordForm {
  readonly current_password?: string;
  readonly new_password?: string;
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
  show(@Query('done') done: unknown, @CurrentSession() { account }: VerifiedSession, @Res() response: Response): void {
    const content = AccountView({ account, changed: done === 'password' });
    this.pages.send(response, { title: 'Account', place: 'account', width: 'narrow', content });
  }

  @Post('password')
  @Form()
  async changePassword(
    @Body() { current_password: current = '', new_password: next = '' }: PasswordForm,
    @CurrentSession() session: VerifiedSession,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    try {
      const { token, expiresAt } = await this.passwords.change(session, { current, next }, address);
      this.cookie.set(response, token, expiresAt);
    } catch (error) {
      const problems = problemsOf(error, response.req);
      const content = AccountView({ account: session.account, changed: false, problems });
      const page = { title: 'Error: Account', place: 'account', width: 'narrow', content } as const;
      this.pages.sendFailure(response, page, problems.error);
      return;
    }
    this.pages.leadTo(response, `${PATH}?done=password`);
  }
}
