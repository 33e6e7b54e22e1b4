import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../auth/session/request-session.js';
import { Public } from '../http/routing/public.decorator.js';
import { PageController } from './page-controller.decorator.js';
import { Pages } from './pages.js';

/** The page that opens after sign-in, unless the user asked for another page. */
export const HOME = '/playground';

@PageController()
export class HomeController {
  constructor(private readonly pages: Pages) {}

  @Get()
  @Public()
  show(@CurrentSession() session: VerifiedSession | undefined, @Res() response: Response): void {
    this.pages.leadTo(response, session === undefined ? '/sign-in' : HOME);
  }
}
