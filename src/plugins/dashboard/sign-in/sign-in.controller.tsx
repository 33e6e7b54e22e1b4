import { Body, Get, Ip, Optional, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SessionsService } from '../../../plugin-api/core/accounts.js';
import { authorOf, clearSession, SessionCookie, sessionOf, SignIn } from '../../../plugin-api/core/auth.js';
import { Form, Public } from '../../../plugin-api/core/http.js';
import { SingleSignOn } from '../../../plugin-api/single-sign-on.js';
import { HOME, localPath, START_PATH } from '../paths.js';
import type { Page } from '../layout/layout.js';
import { PageController, WithPasswords } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { SignInView, SignUpView, type CredentialsViewProps } from './credentials-view.js';
import { SecureTransport } from './secure-transport.js';

/** The fields of the forms. A client may omit any field. */
interface Credentials {
  readonly email?: string;
  readonly password?: string;
  /** The path of the page that opens afterwards. */
  readonly next?: string;
}

/** A page of this controller, which is also the method of `SignIn` for its form. */
type Kind = 'signIn' | 'signUp';

/** Starts and ends sessions. */
@PageController()
@Public()
export class SignInController {
  constructor(
    private readonly pages: Pages,
    private readonly signIns: SignIn,
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
    private readonly transport: SecureTransport,
    @Optional() private readonly signOns?: SingleSignOn,
  ) {}

  @Get('sign-in')
  showSignIn(@Res() response: Response): void {
    this.show('signIn', response);
  }

  @Post('sign-in')
  @Form()
  @WithPasswords()
  async signIn(@Body() form: Credentials, @Ip() address: string, @Res() response: Response): Promise<void> {
    await this.submit('signIn', form, address, response);
  }

  @Get('sign-up')
  @WithPasswords()
  showSignUp(@Res() response: Response): void {
    this.show('signUp', response);
  }

  @Post('sign-up')
  @Form()
  @WithPasswords()
  async signUp(@Body() form: Credentials, @Ip() address: string, @Res() response: Response): Promise<void> {
    await this.submit('signUp', form, address, response);
  }

  @Post('sign-out')
  @Form()
  async signOut(@Res() response: Response): Promise<void> {
    const session = sessionOf(response.req);
    const origin = session && this.signOns?.link && (await this.sessions.originOf(session.sessionId));
    if (session !== undefined) await this.sessions.end(session.sessionId, authorOf(response.req));
    const issuerUrl = origin && (await this.signOns.signOut(origin));
    this.cookie.clear(response);
    // Clears the settings that the playground keeps in session storage, such as the system prompt.
    response.setHeader('Clear-Site-Data', '"storage"');
    if (issuerUrl === undefined) {
      this.pages.redirect(response, '/sign-in');
      return;
    }
    clearSession(response.req);
    // The policy of the pages lets no form lead to another host, so that a redirect would be blocked.
    const content = (
      <>
        <h1>Signed out</h1>
        <p>You are signed out here. Now you are signed out of {issuerUrl.host}, too.</p>
        <p>
          <a href={issuerUrl.href} role="button">
            Continue
          </a>
        </p>
      </>
    );
    this.pages.send(response, { title: 'Signed out', width: 'narrow', leadsTo: issuerUrl.href, content });
  }

  private get hasSignUp(): boolean {
    return this.pages.signUp === 'open';
  }

  private show(kind: Kind, response: Response): void {
    const next = localPath(response.req.query['next']);
    const status = kind === 'signUp' && !this.hasSignUp ? 403 : 200;
    if (sessionOf(response.req) !== undefined) this.pages.redirect(response, next ?? HOME);
    else if (!this.transport.refuse(response)) this.pages.send(response, this.page(kind, { next }), status);
  }

  private async submit(kind: Kind, form: Credentials, address: string, response: Response): Promise<void> {
    if (this.transport.refuse(response)) return;
    const { email = '', password = '' } = form;
    const next = localPath(form.next);
    const visitor = { address, sessionId: response.req.context.session?.sessionId };
    await this.pages.submit(
      response,
      async () => {
        const { token, expiresAt } = await this.signIns[kind]({ email, password }, visitor);
        this.cookie.set(response, token, expiresAt);
        this.pages.redirect(response, next ?? (kind === 'signUp' ? START_PATH : HOME));
      },
      (problems) => this.page(kind, { email, next, problems }),
    );
  }

  private page(kind: Kind, props: CredentialsViewProps): Page {
    const { hasSignUp } = this;
    const { hasPasswords, waysToSignIn: otherWays } = this.pages;
    const singleSignOn = this.signOns?.link;
    if (kind === 'signUp') {
      const content = <SignUpView {...props} hasSignUp={hasSignUp} />;
      return { title: 'Sign up', section: 'sign-up', width: 'narrow', content };
    }
    const content = <SignInView {...props} {...{ hasSignUp, hasPasswords, singleSignOn, otherWays }} />;
    return { title: 'Sign in', section: 'sign-in', width: 'narrow', content };
  }
}
