import { Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { SessionsService } from '../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../auth/session/request-session.js';
import { SessionCookie } from '../../auth/session/session-cookie.js';
import { Form } from '../../http/body/form/form.decorator.js';
import { Public } from '../../http/routing/public.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';

@PageController('sign-out')
@Public()
export class SignOutController {
  constructor(
    private readonly pages: Pages,
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post()
  @Form()
  async signOut(@CurrentSession() session: VerifiedSession | undefined, @Res() response: Response): Promise<void> {
    if (session !== undefined) await this.sessions.end(session.sessionId);
    this.cookie.clear(response);
    // Clears the settings that the playground keeps in session storage, such as the system prompt.
    response.setHeader('Clear-Site-Data', '"storage"');
    this.pages.leadTo(response, '/sign-in');
  }
}
