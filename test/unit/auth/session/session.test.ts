import { Reflector } from '@nestjs/core';
import type { ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionsService, VerifiedSession } from '../../../../src/accounts/sessions/sessions.service.js';
import { principalOf } from '../../../../src/auth/principal/current-principal.decorator.js';
import { sessionIdOf, type Principal } from '../../../../src/auth/principal/principal.js';
import { RequestBodyClients } from '../../../../src/auth/session/request-body-clients.js';
import { SameOriginGuard } from '../../../../src/auth/same-origin/same-origin.guard.js';
import { SessionCookie } from '../../../../src/auth/session/session-cookie.js';
import { SessionGuard } from '../../../../src/auth/session/session.guard.js';
import { SessionMiddleware } from '../../../../src/auth/session/session.middleware.js';
import { hasBearerHeader } from '../../../../src/auth/bearer/bearer-header.js';
import type { TierConfig } from '../../../../src/config/config.js';

const TIER = { name: 'free' } as TierConfig;
const SESSION: VerifiedSession = {
  sessionId: 's1',
  account: { id: 'ada', email: 'ada@example.com', tier: TIER, role: 'member' },
};
const OF_SESSION = { accountId: 'ada', tier: TIER, credential: { kind: 'session', sessionId: 's1' } } as const;
const OF_KEY: Principal = {
  accountId: 'bob',
  tier: TIER,
  credential: { kind: 'api_key', keyId: 'k1', prefix: 'csk_1' },
};
const AWAY = new Error('The database is away.');

const requestWith = (headers: Record<string, string>, context: object = {}, more: object = {}) =>
  ({ headers, context, ip: '2001:db8:1:2:3:4:5:6', ...more }) as unknown as Request;
const contextOf = (request: Request) =>
  ({
    switchToHttp: () => ({ getRequest: () => request }),
    getHandler: () => contextOf,
    getClass: () => Object,
  }) as unknown as ExecutionContext;

describe('the session cookie', () => {
  const NOW = 1_000_000;
  const cookie = new SessionCookie(() => NOW);
  let headers: [name: string, value: unknown][];
  let response: ServerResponse;

  beforeEach(() => {
    headers = [];
    const note = (name: string, value: unknown) => headers.push([name, value]);
    response = { appendHeader: note, setHeader: note } as unknown as ServerResponse;
  });

  it('lives for the whole seconds that are left of the session, and is in no cache', () => {
    cookie.set(response, 'token', new Date(NOW + 5999));
    expect(headers).toEqual([
      ['Set-Cookie', '__Host-session=token; Max-Age=5; Path=/; Secure; HttpOnly; SameSite=Lax'],
      ['Cache-Control', 'no-store'],
    ]);
  });

  it('is removed by an empty one without a lifetime', () => {
    cookie.clear(response);
    expect(headers).toEqual([
      ['Set-Cookie', '__Host-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax'],
      ['Cache-Control', 'no-store'],
    ]);
  });

  it.each([
    ['__Host-session=a', 'a'],
    ['other=1; __Host-session=a; more=2', 'a'],
    ['other=1; \t __Host-session=a', 'a'],
    ['__Host-session=a=b', 'a=b'],
    ['__Host-session=', ''],
    ['__Host-session', undefined],
    ['__Host-session2=a', undefined],
    ['x__Host-session=a', undefined],
    ['\u00a0__Host-session=a', undefined],
    ['__host-session=a', undefined],
    ['__Host-session=a; __Host-session=b', undefined],
    ['', undefined],
  ])('is read from %j', (text, token) => {
    expect(cookie.read(requestWith({ cookie: text }))).toBe(token);
  });

  it('is not there without the header', () => {
    expect(cookie.read(requestWith({}))).toBeUndefined();
  });
});

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

describe('a bearer header', () => {
  it.each([
    ['Bearer csk_1', true],
    ['bEARER\tcsk_1', true],
    ['Bearer', true],
    ['Bearers csk_1', false],
    ['Basic Bearer x', false],
    [' Bearer x', false],
    ['', false],
  ])('is seen in %j: %s', (authorization, expected) => {
    expect(hasBearerHeader(requestWith({ authorization }))).toBe(expected);
  });

  it('is not seen without the header', () => {
    expect(hasBearerHeader(requestWith({}))).toBe(false);
  });
});

describe('the guard of sessions', () => {
  const guard = new SessionGuard();

  it('accepts a session, and sets its principal where no other guard has', () => {
    const request = requestWith({}, { session: SESSION });
    expect(guard.canActivate(contextOf(request))).toBe(true);
    expect(request.context.principal).toEqual(OF_SESSION);
  });

  it('leaves the principal that another guard has set', () => {
    const request = requestWith({}, { session: SESSION, principal: OF_KEY });
    expect(guard.canActivate(contextOf(request))).toBe(true);
    expect(request.context.principal).toBe(OF_KEY);
  });

  it.each<[string, Request]>([
    ['a principal without a session', requestWith({}, { principal: OF_KEY })],
    ['a bearer token on a public route', requestWith({ authorization: 'Bearer csk_1' })],
  ])('refuses %s for good', (_, request) => {
    expect(() => guard.canActivate(contextOf(request))).toThrow(
      expect.objectContaining({
        code: 'forbidden',
        message: expect.stringMatching(/session.*not.*API key/i) as string,
      }) as Error,
    );
  });

  it('requires all other callers to sign in', () => {
    expect(() => guard.canActivate(contextOf(requestWith({})))).toThrow(
      expect.objectContaining({
        code: 'unauthenticated',
        message: 'Sign in first.',
        headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
      }) as Error,
    );
  });
});

describe('a principal', () => {
  it('has a session id only by a session', () => {
    expect(sessionIdOf(OF_SESSION)).toBe('s1');
    expect(sessionIdOf(OF_KEY)).toBeUndefined();
    expect(sessionIdOf({ ...OF_KEY, credential: { kind: 'external', id: 'x' } })).toBeUndefined();
  });

  it('is missing on a public route, which is a mistake of the program', () => {
    expect(principalOf(requestWith({}, { principal: OF_KEY }))).toBe(OF_KEY);
    expect(() => principalOf(requestWith({}))).toThrow('has no principal');
  });
});

describe('the client that a body counts towards', () => {
  const clients = new RequestBodyClients();
  const MIB = 1024 * 1024;

  it('is the network without an account', () => {
    expect(clients.clientOf(requestWith({}))).toEqual({
      key: 'network 2001:db8:1:2::/64',
      maxArriving: 32,
      maxBytes: 16 * MIB,
    });
  });

  it('is the account, with limits that grow with the streams of its tier', () => {
    const principal = { ...OF_KEY, tier: { ...TIER, concurrentStreams: 10 } };
    expect(clients.clientOf(requestWith({}, { principal, session: SESSION }))).toEqual({
      key: 'account bob',
      maxArriving: 26,
      maxBytes: 14 * 4 * MIB,
    });
  });

  it('is the account of the session where no guard has run, without a limit if the tier has none', () => {
    expect(clients.clientOf(requestWith({}, { session: SESSION }))).toEqual({
      key: 'account ada',
      maxArriving: Infinity,
      maxBytes: Infinity,
    });
  });
});

describe('the guard of origins', () => {
  const guard = new SameOriginGuard(new Reflector());
  const app = { get: () => 0 };
  const post = (headers: Record<string, string>, method = 'POST') =>
    contextOf(requestWith({ host: 'chat.example', ...headers }, { session: SESSION }, { method, app, socket: {} }));

  it.each(['GET', 'HEAD', 'OPTIONS'])('lets %s pass from anywhere', (method) => {
    expect(guard.canActivate(post({ origin: 'https://evil.example' }, method))).toBe(true);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://chat.example' }, /page of this service\.$/],
    [
      'of the same site and another host',
      { 'sec-fetch-site': 'same-origin', origin: 'https://other.example' },
      /page of this service\. .*origin.*host.*differ.*proxy.*TRUST_PROXY/,
    ],
  ])('sends a page %s the reason for the refusal', (_, headers, reason) => {
    const message = expect.stringMatching(reason) as string;
    expect(() => guard.canActivate(post(headers))).toThrow(
      expect.objectContaining({ code: 'forbidden', message }) as Error,
    );
  });
});
