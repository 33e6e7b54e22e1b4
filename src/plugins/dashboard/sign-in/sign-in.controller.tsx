import { Body, Get, Ip, Optional, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SessionsService } from '../../../plugin-api/core/accounts.js';
import { authorOf, clearSession, SessionCookie, sessionOf, SignIn } from '../../../plugin-api/core/auth.js';
import { Form, Public } from '../../../plugin-api/core/http.js';
import type { NavigationEntry } from '../../../plugin-api/page-extensions.js';
import { SINGLE_SIGN_ON_PATH, type SingleSignOnLink, SingleSignOn } from '../../../plugin-api/single-sign-on.js';
import type { FormProblems } from '../forms/form-problems.js';
import { NEW_PASSWORD, PageForm } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { PageController, WithPasswords } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { withNext, HOME, localPath, START_PATH } from '../paths.js';
import { SecureTransport } from './secure-transport.js';

interface CredentialsViewProps {
  readonly email?: string;
  /** The path of the page that opens afterwards. */
  readonly next: string | undefined;
  readonly problems?: FormProblems;
}

interface SignUpViewProps extends CredentialsViewProps {
  readonly hasSignUp: boolean;
}

interface SignInViewProps extends SignUpViewProps {
  readonly hasPasswords: boolean;
  readonly singleSignOn: SingleSignOnLink | undefined;
  /** The ways to sign in that plugins add. */
  readonly otherWays: readonly NavigationEntry[];
}

const EMAIL = { label: 'Email', name: 'email', type: 'email', autoComplete: 'username' } as const;
const PASSWORD = { label: 'Password', name: 'password', type: 'password', autoComplete: 'current-password' } as const;

function SignInView(props: SignInViewProps) {
  const { next, hasPasswords, singleSignOn, otherWays } = props;
  const hasOthers = singleSignOn !== undefined || otherWays.length > 0;
  return (
    <>
      <h1>Sign in</h1>
      <p class="lead">Chat with models, manage API keys, track usage.</p>
      {singleSignOn === undefined ? null : <IssuerSignIn {...singleSignOn} next={next} />}
      {otherWays.map(({ label, path }) => (
        <p key={path}>
          <a href={withNext(path, next)} role="button">
            {label}
          </a>
        </p>
      ))}
      {hasOthers && hasPasswords ? <h2>With a password</h2> : null}
      {hasPasswords ? <PasswordSignIn {...props} /> : null}
    </>
  );
}

/** A link and no form, because the policy of the pages keeps forms on this host. */
function IssuerSignIn({ origin, host, next }: SingleSignOnLink & { readonly next: string | undefined }) {
  return (
    <>
      <p>
        <a href={origin + withNext(SINGLE_SIGN_ON_PATH, next)} role="button">
          Continue with single sign-on
        </a>
      </p>
      <p class="fine">You sign in at {host}, and come back afterwards.</p>
    </>
  );
}

function PasswordSignIn({ email = '', next, problems, hasSignUp }: SignInViewProps) {
  return (
    <>
      <PageForm
        action="/sign-in"
        fields={[{ ...EMAIL, value: email }, PASSWORD, { type: 'hidden', name: 'next', value: next }]}
        button="Sign in"
        problems={problems}
      />
      {hasSignUp ? (
        <p>
          No account yet? <a href={withNext('/sign-up', next)}>Sign up</a>
        </p>
      ) : (
        <p class="fine">Sign-up is closed. Ask the operator of this service for an account or a new password.</p>
      )}
    </>
  );
}

function SignUpView({ email = '', next, problems, hasSignUp }: SignUpViewProps) {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">
        {hasSignUp ? 'Create your account.' : 'Sign-up is closed. Ask the operator of this service for an account.'}
      </p>
      {hasSignUp ? (
        <PageForm
          action="/sign-up"
          fields={[{ ...EMAIL, value: email }, NEW_PASSWORD, { type: 'hidden', name: 'next', value: next }]}
          button="Sign up"
          problems={problems}
        />
      ) : null}
      <p>
        Already have an account? <a href={withNext('/sign-in', hasSignUp ? next : undefined)}>Sign in</a>
      </p>
    </>
  );
}

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
