import { Body, Get, Injectable, Ip, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { NewSession, VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SignIn } from '../../auth/sign-in/sign-in.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { problemsOf, type FormProblems } from '../forms/field-problems.js';
import { HOME } from '../home/home.js';
import { localPath } from '../local-path.js';
import { Pages } from '../pages.js';
import type { Credentials } from './credentials.js';
import { SecureTransport } from './secure-transport.js';

export interface FormState {
  readonly email: string;
  /** The path of the page that opens afterwards. */
  readonly next: string | undefined;
  readonly problems: FormProblems | undefined;
}

/** The form for email and password, to sign in or to sign up. Both start a session. */
@Injectable()
export abstract class CredentialsController {
  constructor(
    protected readonly pages: Pages,
    protected readonly signIns: SignIn,
    private readonly cookie: SessionCookie,
    private readonly transport: SecureTransport,
  ) {}

  /** Starts a session with the credentials. */
  protected abstract begin(...parameters: Parameters<SignIn['signIn']>): Promise<NewSession>;

  protected abstract sendForm(response: Response, state: FormState): void;

  @Get()
  show(
    @Query('next') next: unknown,
    @Req() request: Request,
    @CurrentSession() session: VerifiedSession | undefined,
    @Res() response: Response,
  ): void {
    if (session !== undefined) this.pages.leadTo(response, localPath(next) ?? HOME);
    else if (!this.transport.refuse(request, response))
      this.sendForm(response, { email: '', next: localPath(next), problems: undefined });
  }

  @Post()
  @Form()
  async submit(
    @Body() { email = '', password = '', next }: Credentials,
    @Ip() address: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (this.transport.refuse(request, response)) return;
    const visitor = { address, sessionId: request.context.session?.sessionId };
    try {
      const { token, expiresAt } = await this.begin({ email, password }, visitor);
      this.cookie.set(response, token, expiresAt);
    } catch (error) {
      this.sendForm(response, { email, next: localPath(next), problems: problemsOf(error, request) });
      return;
    }
    this.pages.leadTo(response, localPath(next) ?? HOME);
  }
}
