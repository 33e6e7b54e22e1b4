import type { NextFunction, Request, Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionsService, VerifiedSession } from '../../../../src/accounts/sessions/sessions.service.js';
import { SessionCookie } from '../../../../src/auth/session/session-cookie.js';
import { SessionGuard } from '../../../../src/auth/session/session.guard.js';
import { SessionMiddleware } from '../../../../src/auth/session/session.middleware.js';
import { requestWith, contextOf, SESSION } from '../requests.js';

const AWAY = new Error('The database is away.');

describe('the lookup of a session', () => {
  const verified: unknown[][] = [];
  let answer: () => Promise<VerifiedSession | undefined>;
  const sessions = {
    verify: (token: string, networkOf: () => string) => {
      verified.push([token, networkOf()]);
      return answer();
    },
  } as unknown as SessionsService;
  const middleware = new SessionMiddleware(sessions, new SessionCookie(Date.now));
  const passed = (request: Request) =>
    new Promise<unknown>((resolve) => {
      const next: NextFunction = (error?: unknown) => {
        resolve(error);
      };
      middleware.use(request, {} as Response, next);
    });

  beforeEach(() => {
    verified.length = 0;
    answer = () => Promise.resolve(SESSION);
  });

  it('finds the session of the cookie, with the network of the client', async () => {
    const request = requestWith({ cookie: '__Host-session=token' });
    expect(await passed(request)).toBeUndefined();
    expect(request.context).toEqual({ session: SESSION });
    expect(verified).toEqual([['token', '2001:db8:1:2::/64']]);
  });

  it('leaves a request alone whose token is unknown', async () => {
    answer = () => Promise.resolve(undefined);
    const request = requestWith({ cookie: '__Host-session=token' });
    expect(await passed(request)).toBeUndefined();
    expect(Object.keys(request.context)).toEqual([]);
  });

  it('that fails lets the request pass, and keeps the error for what needs the session', async () => {
    answer = () => Promise.reject(AWAY);
    const request = requestWith({ cookie: '__Host-session=token' });
    expect(await passed(request)).toBeUndefined();
    expect(request.context).toEqual({ sessionFailure: AWAY });
    expect(() => new SessionGuard().canActivate(contextOf(request))).toThrow(AWAY);
  });

  it.each<[string, Record<string, string>]>([
    ['without a cookie', {}],
    ['with another cookie', { cookie: 'other=1' }],
    ['with a bearer token, too', { cookie: '__Host-session=token', authorization: 'Bearer csk_1' }],
  ])('is not created for a request %s', async (_, headers) => {
    const request = requestWith(headers);
    expect(await passed(request)).toBeUndefined();
    expect([verified, request.context]).toEqual([[], {}]);
  });
});
