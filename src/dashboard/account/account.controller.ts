import { Get, Ip, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { AccountLink } from '../../auth/single-sign-on/account-link.js';
import { PasswordChange } from '../../auth/sign-in/password-change.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { OnlyIf } from '../../http/routing/only-if.decorator.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { pathWith, textIn, type QueryValues } from '../parts/query.js';
import { Pages } from '../pages.js';
import { AccountView, type AccountViewProps } from './account-view.js';

interface PasswordForm {
  readonly current_password?: string;
  readonly new_password?: string;
  /** Browsers send this field only when the box is checked. */
  readonly revoke_keys?: string;
}

/** What the page reports right after a change. */
const DONE: ReadonlyMap<unknown, string> = new Map([
  ['linked', 'Your account is linked. You can sign in by single sign-on now.'],
  ['unlinked', 'Your account is not linked to single sign-on any more.'],
]);

@PageController('settings/account')
@SessionOnly()
export class AccountController {
  constructor(
    private readonly pages: Pages,
    private readonly passwords: PasswordChange,
    private readonly links: AccountLink,
    private readonly cookie: SessionCookie,
  ) {}

  @Get()
  async show(
    @Query() { done, revoked }: QueryValues,
    @CurrentSession() { account }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const report = done === 'password' ? reportOf(textIn(revoked, 5)) : DONE.get(done);
    this.pages.send(response, await this.page({ account, done: report }));
  }

  @Post('password')
  @Form()
  @OnlyIf(({ passwords }) => passwords === 'on')
  async changePassword(
    @AccountForm() { current_password: current = '', new_password: next = '', revoke_keys: revoke }: PasswordForm,
    @CurrentSession() session: VerifiedSession,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    const revokeKeys = revoke !== undefined;
    await this.pages.submit(
      response,
      async () => {
        const changed = await this.passwords.change(session, { current, next, revokeKeys }, address);
        this.cookie.set(response, changed.token, changed.expiresAt);
        const revoked = revokeKeys ? changed.revokedKeys : undefined;
        this.pages.leadTo(response, pathWith('/settings/account', { done: 'password', revoked }));
      },
      (problems) => this.page({ account: session.account, revokeKeys, problems }),
    );
  }

  private async page(props: Omit<AccountViewProps, 'ways' | 'issuer'>): Promise<Page> {
    const ways = await this.links.waysOf(props.account.id);
    const content = AccountView({ ...props, ways, issuer: this.pages.singleSignOn?.host });
    return { title: 'Account', section: 'account', width: 'narrow', content };
  }
}

/** @param revokedKeys the number of revoked API keys, if the user wanted to revoke the keys. */
function reportOf(revokedKeys: string | undefined): string {
  const sessions = "Your password was changed. You've been signed out everywhere else.";
  if (revokedKeys === undefined || !/^\d{1,4}$/.test(revokedKeys)) return sessions;
  return `${sessions} ${revokedKeys === '1' ? '1 API key was' : `${revokedKeys} API keys were`} revoked.`;
}
