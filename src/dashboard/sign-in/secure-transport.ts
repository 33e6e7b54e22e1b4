import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { publicOriginOf } from '../../auth/same-origin/public-origin.js';
import { acceptsSessionCookie } from '../../auth/session/cookie-transport.js';
import { ServiceError } from '../../common/service-error.js';
import { cutText } from '../../common/text/cut-text.js';
import { wantsPage } from '../errors/wants-page.js';
import { Pages } from '../pages.js';
import { InsecureView } from './insecure-view.js';

const MAX_ORIGIN_LENGTH = 200;

/** Refuses to ask for a password where the browser would drop the session cookie. */
@Injectable()
export class SecureTransport {
  private readonly logger = new Logger('SignIn');
  private isLogged = false;

  constructor(private readonly pages: Pages) {}

  /** Answers with a page that says what to do, and returns true. Returns false if the browser can sign in. */
  refuse(response: Response): boolean {
    const request = response.req;
    if (acceptsSessionCookie(request) || !wantsPage(request)) return false;
    const origin = cutText(publicOriginOf(request), MAX_ORIGIN_LENGTH);
    this.log(origin);
    const port = /:\d+$/.exec(origin)?.[0] ?? '';
    const page = { title: 'HTTPS is required', width: 'narrow', content: InsecureView({ origin, port }) } as const;
    this.pages.send(response, page, new ServiceError('forbidden', 'Sign-in needs HTTPS.'));
    return true;
  }

  private log(origin: string): void {
    if (this.isLogged) return;
    this.isLogged = true;
    this.logger.warn(
      `A browser opened the sign-in page at ${origin} without HTTPS. Browsers keep the session cookie only over HTTPS or on localhost.`,
    );
  }
}
