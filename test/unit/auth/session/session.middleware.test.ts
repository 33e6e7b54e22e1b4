import type { Request, Response } from 'express';
import { expect, it } from 'vitest';
import type { SessionsService } from '../../../../src/accounts/sessions/sessions.service.js';
import { SessionCookie } from '../../../../src/auth/session/session-cookie.js';
import { SessionGuard } from '../../../../src/auth/session/session.guard.js';
import { SessionMiddleware } from '../../../../src/auth/session/session.middleware.js';
import { requestWith, contextOf, OF_SESSION, SESSION } from '../requests.js';

it('a lookup of a session that fails lets the request pass, and keeps the error for what needs the session', async () => {
  const away = new Error('The database is away.');
  const sessions = { verify: () => Promise.reject(away) } as unknown as SessionsService;
  const middleware = new SessionMiddleware(sessions, new SessionCookie(Date.now));
  const request: Request = requestWith({ cookie: '__Host-session=token' });
  const passed = new Promise((resolve) => {
    middleware.use(request, {} as Response, resolve);
  });
  expect(await passed).toBeUndefined();
  expect(request.context).toEqual({ sessionFailure: away });
  expect(() => new SessionGuard().canActivate(contextOf(request))).toThrow(away);
});

it('a session sets the principal where no other guard has', () => {
  const request = requestWith({}, { session: SESSION });
  expect(new SessionGuard().canActivate(contextOf(request))).toBe(true);
  expect(request.context.principal).toEqual(OF_SESSION);
});
