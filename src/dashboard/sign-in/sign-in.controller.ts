import { Body, Get, Ip, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { SignIn } from '../../auth/sign-in/sign-in.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { Public } from '../../http/routing/public.decorator.js';
import { problemsOf } from '../forms/field-problems.js';
import { HOME } from '../home.controller.js';
import { localPath } from '../local-path.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import type { Credentials } from './credentials.js';
import { SignInView } from './sign-in-view.js';

@PageController('sign-in')
@Public()
export class SignInController {
  constructor(
    private readonly pages: Pages,
    private readonly signIns: SignIn,
    private readonly cookie: SessionCookie,
  ) {}

  @Get()
  show(
    @Query('next') next: unknown,
    @CurrentSession() session: VerifiedSession | undefined,
    @Res() response: Response,
  ): void {
    if (session !== undefined) {
      this.pages.leadTo(response, localPath(next) ?? HOME);
      return;
    }
    const content = SignInView({ email: '', next: localPath(next), problems: undefined, signUp: this.pages.signUp });
    this.pages.send(response, { title: 'Sign in', place: 'sign-in', width: 'narrow', content });
  }

  @Post()
  @Form()
  async signIn(
    @Body() { email = '', password = '', next }: Credentials,
    @Ip() address: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const visitor = { address, sessionId: request.context.session?.sessionId };
    try {
      const { token, expiresAt } = await this.signIns.signIn({ email, password }, visitor);
      this.cookie.set(response, token, expiresAt);
    } catch (error) {
      const problems = problemsOf(error, response.req);
      const content = SignInView({ email, next: localPath(next), problems, signUp: this.pages.signUp });
      const page = { title: 'Error: Sign in', place: 'sign-in', width: 'narrow', content } as const;
      this.pages.sendFailure(response, page, problems.error);
      return;
    }
    this.pages.leadTo(response, localPath(next) ?? HOME);
  }
}
