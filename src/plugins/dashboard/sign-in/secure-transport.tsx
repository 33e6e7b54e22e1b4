import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { acceptsSessionCookie, publicOriginOf } from '../../../plugin-api/core/auth.js';
import { cutText, ServiceError } from '../../../plugin-api/core/common.js';
import { wantsPage } from '../forms/form-problems.js';
import { Pages } from '../pages.js';

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
    const page = { title: 'HTTPS is required', width: 'narrow', content: <Advice origin={origin} /> } as const;
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

/** @param props.origin the scheme, host and port by which the browser has reached the service. */
function Advice({ origin }: { readonly origin: string }) {
  const local = `http://localhost${/:\d+$/.exec(origin)?.[0] ?? ''}/sign-in`;
  return (
    <>
      <h1>HTTPS is required to sign in</h1>
      <p>
        You opened <code>{origin}</code> without HTTPS. Browsers don't keep you signed in at such an address, and others
        on the network could read your password.
      </p>
      <h2>What to do</h2>
      <ul>
        <li>Open the HTTPS address of this service, if there is one.</li>
        <li>
          If the service runs on your own machine, open <a href={local}>{local}</a>.
        </li>
        <li>
          If you operate this service, put a proxy with a certificate in front of it, and set <code>TRUST_PROXY</code>.
        </li>
      </ul>
      <p class="fine">API keys work at this address, but they are sent without encryption.</p>
    </>
  );
}
