import { Body, Get, Ip, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { NewSession, VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { Author } from '../../auth/session/change-author.decorator.js';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import { CurrentSession, clearSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SignIn } from '../../auth/sign-in/sign-in.js';
import { SingleSignOn } from '../../auth/single-sign-on/single-sign-on.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { Public } from '../../http/routing/public.decorator.js';
import { HOME } from '../home/home.js';
import { localPath } from '../local-path.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { WithPasswords } from '../with-passwords.decorator.js';
import { IssuerSignOutView } from './issuer-sign-out-view.js';
import { SignInView, SignUpClosedView, SignUpView, type CredentialsViewProps } from './credentials-view.js';
import { SecureTransport } from './secure-transport.js';

/** The fields of the forms. A client may omit any field. */
interface Credentials {
  readonly email?: string;
  readonly password?: string;
  /** The path of the page that opens afterwards. */
  readonly next?: string;
}

type Begin = (...parameters: Parameters<SignIn['signIn']>) => Promise<NewSession>;

/** Starts and ends sessions. */
@PageController()
@Public()
export class SignInController {
  constructor(
    private readonly pages: Pages,
    private readonly signIns: SignIn,
    private readonly signOns: SingleSignOn,
    private readonly cookie: SessionCookie,
    private readonly transport: SecureTransport,
  ) {}

  @Get('sign-in')
  showSignIn(
    @Query('next') next: unknown,
    @CurrentSession() session: VerifiedSession | undefined,
    @Res() response: Response,
  ): void {
    this.show(response, next, session, (props) => this.signInPage(props));
  }

  @Post('sign-in')
  @Form()
  @WithPasswords()
  async signIn(@Body() form: Credentials, @Ip() address: string, @Res() response: Response): Promise<void> {
    const begin: Begin = (...parameters) => this.signIns.signIn(...parameters);
    await this.submit(response, form, address, begin, (props) => this.signInPage(props));
  }

  @Get('sign-up')
  @WithPasswords()
  showSignUp(
    @Query('next') next: unknown,
    @CurrentSession() session: VerifiedSession | undefined,
    @Res() response: Response,
  ): void {
    const status = this.hasSignUp ? 200 : 403;
    this.show(response, next, session, (props) => this.signUpPage(props), status);
  }

  @Post('sign-up')
  @Form()
  @WithPasswords()
  async signUp(@Body() form: Credentials, @Ip() address: string, @Res() response: Response): Promise<void> {
    const begin: Begin = (...parameters) => this.signIns.signUp(...parameters);
    await this.submit(response, form, address, begin, (props) => this.signUpPage(props));
  }

  @Post('sign-out')
  @Form()
  async signOut(
    @CurrentSession() session: VerifiedSession | undefined,
    @Author() author: ChangeAuthor,
    @Res() response: Response,
  ): Promise<void> {
    const issuerUrl = session && (await this.signOns.signOut(session.sessionId, author));
    this.cookie.clear(response);
    // Clears the settings that the playground keeps in session storage, such as the system prompt.
    response.setHeader('Clear-Site-Data', '"storage"');
    if (issuerUrl === undefined) {
      this.pages.leadTo(response, '/sign-in');
      return;
    }
    clearSession(response.req);
    // The policy of the pages lets no form lead to another host, so that a redirect would be blocked.
    const content = IssuerSignOutView({ url: issuerUrl });
    this.pages.send(response, { title: 'Signed out', width: 'narrow', leadsTo: issuerUrl.href, content });
  }

  private get hasSignUp(): boolean {
    return this.pages.signUp === 'open';
  }

  private show(
    response: Response,
    next: unknown,
    session: VerifiedSession | undefined,
    page: (props: CredentialsViewProps) => Page,
    status = 200,
  ): void {
    if (session !== undefined) this.pages.leadTo(response, localPath(next) ?? HOME);
    else if (!this.transport.refuse(response)) this.pages.send(response, page({ next: localPath(next) }), status);
  }

  private async submit(
    response: Response,
    { email = '', password = '', next }: Credentials,
    address: string,
    begin: Begin,
    page: (props: CredentialsViewProps) => Page,
  ): Promise<void> {
    if (this.transport.refuse(response)) return;
    const visitor = { address, sessionId: response.req.context.session?.sessionId };
    await this.pages.submit(
      response,
      async () => {
        const { token, expiresAt } = await begin({ email, password }, visitor);
        this.cookie.set(response, token, expiresAt);
        this.pages.leadTo(response, localPath(next) ?? HOME);
      },
      (problems) => page({ email, next: localPath(next), problems }),
    );
  }

  private signInPage(props: CredentialsViewProps): Page {
    const { hasPasswords, singleSignOn } = this.pages;
    const content = SignInView({ ...props, hasSignUp: this.hasSignUp, hasPasswords, singleSignOn });
    return { title: 'Sign in', section: 'sign-in', width: 'narrow', content };
  }

  private signUpPage(props: CredentialsViewProps): Page {
    const content = this.hasSignUp ? SignUpView(props) : SignUpClosedView();
    return { title: 'Sign up', section: 'sign-up', width: 'narrow', content };
  }
}
