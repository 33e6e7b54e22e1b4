import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { SessionsService } from '../../accounts/sessions/sessions.service.js';
import { networkOf } from '../network/client-network.js';
import { hasBearerHeader } from '../bearer/bearer-header.js';
import { accountMismatch, boundAccountIn } from './account-binding.js';
import { SessionCookie } from './session-cookie.js';
import './request-session.js';

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
