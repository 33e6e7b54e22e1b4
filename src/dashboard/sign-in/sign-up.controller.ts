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
import { SignUpClosedView, SignUpView } from './sign-up-view.js';

const PAGE = { place: 'sign-up', width: 'narrow' } as const;

@PageController('sign-up')
@Public()
export class SignUpController {
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
    if (this.pages.signUp === 'closed') {
      this.sendClosed(response);
      return;
    }
    const content = SignUpView({ email: '', next: localPath(next), problems: undefined });
    this.pages.send(response, { ...PAGE, title: 'Sign up', content });
  }

  @Post()
  @Form()
  async signUp(
    @Body() { email = '', password = '', next }: Credentials,
    @Ip() address: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const visitor = { address, sessionId: request.context.session?.sessionId };
    try {
      const { token, expiresAt } = await this.signIns.signUp({ email, password }, visitor);
      this.cookie.set(response, token, expiresAt);
    } catch (error) {
      const problems = problemsOf(error, response.req);
      if (problems.error.code === 'forbidden') {
        this.sendClosed(response);
        return;
      }
      const content = SignUpView({ email, next: localPath(next), problems });
      this.pages.sendFailure(response, { ...PAGE, title: 'Error: Sign up', content }, problems.error);
      return;
    }
    this.pages.leadTo(response, localPath(next) ?? HOME);
  }

  private sendClosed(response: Response): void {
    this.pages.send(response, { ...PAGE, title: 'Sign up', content: SignUpClosedView() }, 403);
  }
}
