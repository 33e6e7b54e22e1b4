import { Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../accounts/sessions.service.js';
import { CurrentSession } from '../auth/request-session.js';
import { Public } from '../common/public.decorator.js';
import { PageController } from './page-controller.decorator.js';

/** Where those go who are signed in and have nowhere else to go. */
export const HOME = '/playground';

@PageController()
export class HomeController {
  @Get()
  @Public()
  show(@CurrentSession() session: VerifiedSession | undefined, @Res() response: Response): void {
    response.setHeader('Cache-Control', 'no-store');
    response.redirect(303, session === undefined ? '/sign-in' : HOME);
  }
}
