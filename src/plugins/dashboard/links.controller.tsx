import { Body, Get, Ip, Param, Post, Res, type Type } from '@nestjs/common';
import type { Response } from 'express';
import {
  INVITATION_PATH,
  type LinkResult,
  LinkSignIn,
  RESET_PATH,
  SessionCookie,
  type Visitor,
} from '../../plugin-api/core/auth.js';
import { Form, Public } from '../../plugin-api/core/http.js';
import { NEW_PASSWORD, PageForm } from './forms/page-form.js';
import type { FormProblems } from './forms/form-problems.js';
import type { Page } from './layout/layout.js';
import { PageController, WithPasswords } from './page-controller.decorator.js';
import { Pages } from './pages.js';
import { HOME, START_PATH } from './paths.js';
import { SecureTransport } from './sign-in/secure-transport.js';

interface PasswordForm {
  readonly password?: string;
}

/** A kind of one-time link. */
interface LinkKind {
  readonly path: string;
  readonly title: string;
  readonly lead: string;
  readonly button: string;
  /** The page that opens afterwards. */
  readonly next: string;
  find(links: LinkSignIn, token: string, address: string): Promise<{ readonly email: string }>;
  use(links: LinkSignIn, token: string, password: string, visitor: Visitor): Promise<LinkResult>;
}

const INVITATION: LinkKind = {
  path: INVITATION_PATH,
  title: 'Create your account',
  lead: 'Choose a password for your account.',
  button: 'Create account',
  next: START_PATH,
  find: (links, token, address) => links.invitation(token, address),
  use: (links, token, password, visitor) => links.accept(token, password, visitor),
};

const RESET: LinkKind = {
  path: RESET_PATH,
  title: 'Choose a new password',
  lead: 'This signs you out in other browsers. API keys keep working.',
  button: 'Set password',
  next: HOME,
  find: (links, token, address) => links.accountOfReset(token, address),
  use: (links, token, password, visitor) => links.reset(token, password, visitor),
};

/** The page that a kind of link opens: the user chooses a password. Opening the page does not use the link. */
function controllerOf(kind: LinkKind): Type {
  @PageController(kind.path)
  @WithPasswords()
  @Public()
  class LinkController {
    constructor(
      private readonly pages: Pages,
      private readonly links: LinkSignIn,
      private readonly cookie: SessionCookie,
      private readonly transport: SecureTransport,
    ) {}

    @Get(':token')
    async show(@Param('token') token: string, @Ip() address: string, @Res() response: Response): Promise<void> {
      if (this.transport.refuse(response)) return;
      const { email } = await kind.find(this.links, token, address);
      this.pages.send(response, linkPage(kind, token, email));
    }

    @Post(':token')
    @Form()
    async use(
      @Param('token') token: string,
      @Body() { password = '' }: PasswordForm,
      @Ip() address: string,
      @Res() response: Response,
    ): Promise<void> {
      if (this.transport.refuse(response)) return;
      const { email } = await kind.find(this.links, token, address);
      const visitor = { address, sessionId: response.req.context.session?.sessionId };
      await this.pages.submit(
        response,
        async () => {
          const { session } = await kind.use(this.links, token, password, visitor);
          this.cookie.set(response, session.token, session.expiresAt);
          this.pages.redirect(response, kind.next);
        },
        (problems) => linkPage(kind, token, email, problems),
      );
    }
  }
  return LinkController;
}

function linkPage(
  { path, title, lead, button }: LinkKind,
  token: string,
  email: string,
  problems?: FormProblems,
): Page {
  const content = (
    <>
      <h1>{title}</h1>
      <p class="lead">{lead}</p>
      <p>
        Email: <strong class="breaks">{email}</strong>
      </p>
      <PageForm
        action={`${path}/${token}`}
        username={email}
        fields={[{ ...NEW_PASSWORD, label: 'New password' }]}
        button={button}
        problems={problems}
      />
    </>
  );
  return { title, width: 'narrow', content };
}

/** The pages of invitations, and of links for a new password. */
export const LINK_CONTROLLERS = [INVITATION, RESET].map(controllerOf);
