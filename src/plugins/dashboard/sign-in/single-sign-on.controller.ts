import { Body, Get, HttpCode, Injectable, Ip, Optional, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { VerifiedSession } from '../../../plugin-api/core/accounts.js';
import { CurrentSession, SessionCookie, sourceOf } from '../../../plugin-api/core/auth.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { Form, OnlyIf, PartOf, Public } from '../../../plugin-api/core/http.js';
import {
  LINK_PATH,
  SIGN_IN_LIFETIME_MS,
  SINGLE_SIGN_ON_PATH,
  SingleSignOn,
} from '../../../plugin-api/single-sign-on.js';
import { ErrorView } from '../page-errors.js';
import { problemsOf } from '../forms/form-problems.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { pathWith, ACCOUNT_PATH, HOME, localPath, withNext } from '../paths.js';
import { SecureTransport } from './secure-transport.js';

/** Explains to people why a sign-in at the issuer has failed, and leads back. */
@Injectable()
export class SignInFailures {
  constructor(private readonly pages: Pages) {}

  /**
   * Runs a step of a sign-in. If the step fails, sends a page with the reason.
   *
   * @param back the path of the page on which the person can try again.
   * @throws the error of the step, if it is an internal error, or if the client expects no page.
   */
  async explain(response: Response, back: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (thrown) {
      const { req: request } = response;
      const { error } = problemsOf(thrown, request);
      const title = 'Sign-in failed';
      const content = ErrorView({ error, title, link: ['Back', back], requestId: request.context.requestId });
      this.pages.send(response, { title, section: 'sign-in', width: 'narrow', content }, error);
    }
  }
}

/** A longer path is dropped during the sign-in, because issuers limit the length of the state. */
const MAX_NEXT_LENGTH = 500;

/** Signs people in at the issuer, and takes the issuer's logouts. */
@PartOf('single-sign-on')
@PageController(SINGLE_SIGN_ON_PATH)
@Public()
@OnlyIf(({ singleSignOn }) => singleSignOn !== undefined)
export class SingleSignOnController {
  constructor(
    private readonly pages: Pages,
    // There with the plugin. Without it, this controller is not in use.
    @Optional() private readonly signOns: SingleSignOn,
    private readonly cookie: SessionCookie,
    private readonly transport: SecureTransport,
    private readonly failures: SignInFailures,
  ) {}

  /** Sends the browser to the issuer. */
  @Get()
  async start(
    @Query('next') path: unknown,
    @CurrentSession() session: VerifiedSession | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const next = localPath(path);
    if (session !== undefined) {
      this.pages.redirect(response, next ?? HOME);
      return;
    }
    if (this.transport.refuse(response)) return;
    await this.failures.explain(response, withNext('/sign-in', next), async () => {
      const cookie = this.signOns.browserCookie(this.cookie.read(response.req));
      const isShort = next !== undefined && next.length <= MAX_NEXT_LENGTH;
      const signIn = { cookie, next: isShort ? next : undefined, linkedAccountId: undefined };
      const { href } = await this.signOns.start(signIn);
      this.cookie.setForSignIn(response, cookie, SIGN_IN_LIFETIME_MS);
      this.pages.redirect(response, href);
    });
  }

  /** The issuer sends the browser back here. */
  @Get('callback')
  async finish(
    @CurrentSession() session: VerifiedSession | undefined,
    @Ip() address: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.failures.explain(response, session === undefined ? '/sign-in' : ACCOUNT_PATH, async () => {
      const cookie = this.cookie.read(request);
      const finished = await this.signOns.finish(queryOf(request), { address, session, cookie });
      switch (finished.kind) {
        case 'signed-in':
          this.cookie.set(response, finished.session.token, finished.session.expiresAt);
          this.pages.redirect(response, finished.next ?? HOME);
          return;
        case 'linked':
          this.pages.redirect(response, `${ACCOUNT_PATH}?done=linked`);
          return;
        case 'unchanged':
          this.pages.redirect(response, HOME);
      }
    });
  }

  /** The issuer calls this route itself, without a browser. */
  @Post('back-channel-logout')
  @Form()
  @HttpCode(200)
  async logOut(
    @Body() { logout_token: token = '' }: { readonly logout_token?: string },
    @Ip() address: string,
  ): Promise<void> {
    await this.signOns.logouts.handle(token, address);
  }
}

/** The query with its question mark, exactly as the browser has sent it. */
function queryOf({ originalUrl }: Request): string {
  const start = originalUrl.indexOf('?');
  return start === -1 ? '' : originalUrl.slice(start);
}

/** Links the account of a person who is signed in to a person at the issuer. */
@PartOf('single-sign-on')
@PageController(LINK_PATH)
@OnlyIf(({ singleSignOn }) => singleSignOn !== undefined)
export class AccountLinkController {
  constructor(
    private readonly pages: Pages,
    @Optional() private readonly signOns: SingleSignOn,
    private readonly cookie: SessionCookie,
    private readonly failures: SignInFailures,
  ) {}

  /**
   * Sends the browser to the issuer. A link and no form, because the policy of the pages keeps forms on this host. A page of another
   * site must not start this: it could have signed the browser in at the issuer as somebody else.
   */
  @Get()
  async start(@CurrentPageRequest() { accountId, response }: PageRequest): Promise<void> {
    await this.failures.explain(response, ACCOUNT_PATH, async () => {
      if (sourceOf(response.req) !== 'same-origin') {
        throw new ServiceError('forbidden', 'Link your account on the account page of this service.');
      }
      const cookie = this.cookie.read(response.req) ?? '';
      const url = await this.signOns.start({ cookie, next: undefined, linkedAccountId: accountId });
      this.pages.redirect(response, url.href);
    });
  }

  @PostForm('unlink')
  async unlink(@CurrentPageRequest() { accountId, response }: PageRequest): Promise<void> {
    const removed = await this.signOns.accounts.unlink(accountId);
    this.pages.redirect(response, pathWith(ACCOUNT_PATH, { done: removed ? 'unlinked' : undefined }));
  }
}
