import type { IncomingMessage } from 'node:http';
import { SessionsService, type VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { networkOf } from '../network/client-network.js';
import { hasBearerHeader } from '../bearer/bearer-header.js';
import { SessionCookie } from './session-cookie.js';
import './request-session.js';

/** Scripts of pages name in this header the account for which the page was made. */
const HEADER = 'x-account-id';

/**
 * Another tab of the browser can sign in to another account. The cookie is then the cookie of that account, but the page still
 * shows the old one. Returns the error that refuses such a request, so that no account pays for the conversation of another.
 *
 * @param boundAccountId the id of the account for which the page was made. `undefined` for programs that are not a page.
 */
export function accountMismatch(
  boundAccountId: string | undefined,
  { account }: VerifiedSession,
): ServiceError | undefined {
  if (boundAccountId === undefined || boundAccountId === account.id) return undefined;
  return new ServiceError(
    'account_mismatch',
    `You are signed in as ${account.email} now. This page was opened for another account.`,
  );
}

const boundAccountIn = ({ headers }: IncomingMessage): string | undefined => headers[HEADER]?.toString();

/**
 * Runs before every route and looks up the session of the cookie, if there is one. An invalid cookie or a failed lookup
 * does not fail the request here, because the route may not need a session.
 */
@Injectable()
export class SessionMiddleware implements NestMiddleware {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  use(request: Request, _: Response, next: NextFunction): void {
    const token = request.headers.cookie === undefined ? undefined : this.cookie.read(request);
    if (token === undefined || hasBearerHeader(request)) {
      next();
      return;
    }
    this.sessions
      .verify(token, () => networkOf(request.ip))
      .then(
        (session) => {
          if (session === undefined) return;
          const mismatch = accountMismatch(boundAccountIn(request), session);
          if (mismatch === undefined) request.context.session = session;
          else request.context.sessionFailure = mismatch;
        },
        (error: unknown) => {
          request.context.sessionFailure = error;
        },
      )
      .then(() => {
        next();
      }, next);
  }
}
