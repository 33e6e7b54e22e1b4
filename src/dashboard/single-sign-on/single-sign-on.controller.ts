import { Body, Get, HttpCode, Ip, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { BackChannelLogout } from '../../auth/single-sign-on/back-channel-logout.js';
import { SINGLE_SIGN_ON_PATH } from '../../auth/single-sign-on/paths.js';
import { SIGN_IN_LIFETIME_MS } from '../../auth/single-sign-on/sign-in-state.js';
import { SingleSignOn } from '../../auth/single-sign-on/single-sign-on.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { OnlyIf } from '../../http/routing/only-if.decorator.js';
import { Public } from '../../http/routing/public.decorator.js';
import { localPath, withNext } from '../local-path.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { ACCOUNT_PATH, HOME } from '../paths.js';
import { SecureTransport } from '../sign-in/secure-transport.js';
import { SignInFailures } from './sign-in-failures.js';

/** A longer path is dropped during the sign-in, because issuers limit the length of the state. */
const MAX_NEXT_LENGTH = 500;

/** Signs people in at the issuer, and takes the issuer's logouts. */
@PageController(SINGLE_SIGN_ON_PATH)
@Public()
@OnlyIf(({ singleSignOn }) => singleSignOn !== undefined)
export class SingleSignOnController {
  constructor(
    private readonly pages: Pages,
    private readonly signOns: SingleSignOn,
    private readonly logouts: BackChannelLogout,
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
      this.pages.leadTo(response, next ?? HOME);
      return;
    }
    if (this.transport.refuse(response)) return;
    await this.failures.explain(response, withNext('/sign-in', next), async () => {
      const cookie = this.signOns.browserCookie(this.cookie.read(response.req));
      const isShort = next !== undefined && next.length <= MAX_NEXT_LENGTH;
      const signIn = { cookie, next: isShort ? next : undefined, linkedAccountId: undefined };
      const { href } = await this.signOns.start(signIn);
      this.cookie.setForSignIn(response, cookie, SIGN_IN_LIFETIME_MS);
      this.pages.leadTo(response, href);
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
          this.pages.leadTo(response, finished.next ?? HOME);
          return;
        case 'linked':
          this.pages.leadTo(response, `${ACCOUNT_PATH}?done=linked`);
          return;
        case 'unchanged':
          this.pages.leadTo(response, HOME);
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
    await this.logouts.handle(token, address);
  }
}

/** The query with its question mark, exactly as the browser has sent it. */
function queryOf({ originalUrl }: Request): string {
  const start = originalUrl.indexOf('?');
  return start === -1 ? '' : originalUrl.slice(start);
}
