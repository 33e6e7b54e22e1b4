import { Get } from '@nestjs/common';
import { sourceOf } from '../../auth/same-origin/same-origin.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SessionOnly } from '../../auth/session/session.guard.js';
import { AccountLink } from '../../auth/single-sign-on/account-link.js';
import { LINK_PATH } from '../../auth/single-sign-on/paths.js';
import { SingleSignOn } from '../../auth/single-sign-on/single-sign-on.js';
import { ServiceError } from '../../common/service-error.js';
import { OnlyIf } from '../../http/routing/only-if.decorator.js';
import { PostForm } from '../forms/post-form.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { pathWith } from '../parts/query.js';
import { ACCOUNT_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { SignInFailures } from './sign-in-failures.js';

/** Links the account of a person who is signed in to a person at the issuer. */
@PageController(LINK_PATH)
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
  async start(@CurrentVisit() { accountId, response }: Visit): Promise<void> {
    await this.failures.explain(response, ACCOUNT_PATH, async () => {
      if (sourceOf(response.req) !== 'same-origin') {
        throw new ServiceError('forbidden', 'Link your account on the account page of this service.');
      }
      const cookie = this.cookie.read(response.req) ?? '';
      const url = await this.signOns.start({ cookie, next: undefined, linkedAccountId: accountId });
      this.pages.leadTo(response, url.href);
    });
  }

  @PostForm('unlink')
  async unlink(@CurrentVisit() { accountId, response }: Visit): Promise<void> {
    const removed = await this.links.remove(accountId);
    this.pages.leadTo(response, pathWith(ACCOUNT_PATH, { done: removed ? 'unlinked' : undefined }));
  }
}
