import { Body, Get, Ip, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { LinkSignIn, type LinkResult } from '../../auth/sign-in/link-sign-in.js';
import type { Visitor } from '../../auth/sign-in/sign-in.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { Public } from '../../http/routing/public.decorator.js';
import type { FormProblems } from '../forms/form-problems.js';
import { HOME } from '../home/home.js';
import type { Page } from '../page.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { SecureTransport } from '../sign-in/secure-transport.js';
import { WithPasswords } from '../with-passwords.decorator.js';
import { INVITATION_PATH, RESET_PATH } from './link-paths.js';
import { LinkView } from './link-view.js';

interface PasswordForm {
  readonly password?: string;
}

/** The pages that one-time links open: an invitation, and a link for a new password. Opening a page does not use the link. */
@PageController()
@WithPasswords()
@Public()
export class LinksController {
  constructor(
    private readonly pages: Pages,
    private readonly links: LinkSignIn,
    private readonly cookie: SessionCookie,
    private readonly transport: SecureTransport,
  ) {}

  @Get(`${INVITATION_PATH.slice(1)}/:token`)
  async showInvitation(@Param('token') token: string, @Ip() address: string, @Res() response: Response): Promise<void> {
    if (this.transport.refuse(response)) return;
    const { email } = await this.links.invitation(token, address);
    this.pages.send(response, invitationPage(token, email));
  }

  @Post(`${INVITATION_PATH.slice(1)}/:token`)
  @Form()
  async accept(
    @Param('token') token: string,
    @Body() { password = '' }: PasswordForm,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    if (this.transport.refuse(response)) return;
    const { email } = await this.links.invitation(token, address);
    await this.submit(
      response,
      (visitor) => this.links.accept(token, password, visitor),
      (problems) => invitationPage(token, email, problems),
    );
  }

  @Get(`${RESET_PATH.slice(1)}/:token`)
  async showReset(@Param('token') token: string, @Ip() address: string, @Res() response: Response): Promise<void> {
    if (this.transport.refuse(response)) return;
    const { email } = await this.links.accountOfReset(token, address);
    this.pages.send(response, resetPage(token, email));
  }

  @Post(`${RESET_PATH.slice(1)}/:token`)
  @Form()
  async reset(
    @Param('token') token: string,
    @Body() { password = '' }: PasswordForm,
    @Ip() address: string,
    @Res() response: Response,
  ): Promise<void> {
    if (this.transport.refuse(response)) return;
    const { email } = await this.links.accountOfReset(token, address);
    await this.submit(
      response,
      (visitor) => this.links.reset(token, password, visitor),
      (problems) => resetPage(token, email, problems),
    );
  }

  private async submit(
    response: Response,
    use: (visitor: Visitor) => Promise<LinkResult>,
    page: (problems: FormProblems) => Page,
  ): Promise<void> {
    const { req: request } = response;
    await this.pages.submit(
      response,
      async () => {
        const { session } = await use({ address: request.ip, sessionId: request.context.session?.sessionId });
        this.cookie.set(response, session.token, session.expiresAt);
        this.pages.leadTo(response, HOME);
      },
      page,
    );
  }
}

function invitationPage(token: string, email: string, problems?: FormProblems): Page {
  const content = LinkView({
    title: 'Create your account',
    lead: 'Choose a password for your account.',
    action: `${INVITATION_PATH}/${token}`,
    email,
    button: 'Create account',
    problems,
  });
  return { title: 'Create your account', width: 'narrow', content };
}

function resetPage(token: string, email: string, problems?: FormProblems): Page {
  const content = LinkView({
    title: 'Choose a new password',
    lead: 'This signs you out in other browsers. API keys keep working.',
    action: `${RESET_PATH}/${token}`,
    email,
    button: 'Set password',
    problems,
  });
  return { title: 'Choose a new password', width: 'narrow', content };
}
