import { Get, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { sourceOf } from '../../auth/same-origin/same-origin.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { AccountLink } from '../../auth/single-sign-on/account-link.js';
import { LINK_PATH } from '../../auth/single-sign-on/paths.js';
import { SingleSignOn } from '../../auth/single-sign-on/single-sign-on.js';
import { ServiceError } from '../../common/service-error.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { OnlyIf } from '../../http/routing/only-if.decorator.js';
import { AccountForm } from '../forms/account-form.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { pathWith } from '../parts/query.js';
import { Pages } from '../pages.js';
import { SignInFailures } from './sign-in-failures.js';

/** Links the account of a person who is signed in to a person at the issuer. */
@PageController(LINK_PATH.slice(1))
@SessionOnly()
@OnlyIf(({ singleSignOn }) => singleSignOn !== undefined)
export class AccountLinkController {
  constructor(
    private readonly pages: Pages,
    private readonly signOns: SingleSignOn,
    private readonly links: AccountLink,
    private readonly cookie: SessionCookie,
    private readonly failures: SignInFailures,
  ) {}

  /**
   * Sends the browser to the issuer. A link and no form, because the policy of the pages keeps forms on this host. A page of another
   * site must not start this: it could have signed the browser in at the issuer as somebody else.
   */
  @Get()
  async start(
    @CurrentSession() { account }: VerifiedSession,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.failures.explain(response, '/settings/account', async () => {
      if (sourceOf(request) !== 'same-origin') {
        throw new ServiceError('forbidden', 'Link your account on the account page of this service.');
      }
      const cookie = this.cookie.read(request) ?? '';
      const url = await this.signOns.start({ cookie, next: undefined, linkedAccountId: account.id });
      this.pages.leadTo(response, url.href);
    });
  }

  @Post('unlink')
  @Form()
  async unlink(
    @AccountForm() _form: unknown,
    @CurrentSession() { account }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const removed = await this.links.remove(account.id);
    this.pages.leadTo(response, pathWith('/settings/account', { done: removed ? 'unlinked' : undefined }));
  }
}
