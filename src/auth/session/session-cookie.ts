import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account } from '../../accounts/account/account.entity.js';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { SessionsService, type NewSession, type SessionOrigin } from '../../accounts/sessions/sessions.service.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { hostOf, isSecure } from '../same-origin/public-origin.js';
import './request-session.js';

/** Browsers accept a cookie with the prefix `__Host-` only from this host, over HTTPS (or from localhost), for all paths. */
export const SESSION_COOKIE = '__Host-session';
/**
 * The spaces that browsers ignore before a cookie's name. `trim` removes more kinds of space. With `trim`, a sibling host
 * could set a cookie that has such a space before the name, and so avoid the rules for the prefix.
 */
const LEADING_SPACE = /^[ \t]+/;
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** The cookie that carries the session's token. While a visitor signs in at an issuer, its value binds the sign-in to the browser. */
@Injectable()
export class SessionCookie {
  constructor(@Inject(CLOCK) private readonly now: Clock) {}

  set(response: ServerResponse, token: string, expiresAt: Date): void {
    // An age instead of a date, because the browser's clock may be wrong.
    this.write(response, token, Math.floor((expiresAt.getTime() - this.now()) / 1000));
  }

  /** Sets a value other than a token, which binds a sign-in in progress to the browser. */
  setForSignIn(response: ServerResponse, value: string, lifetimeMs: number): void {
    this.write(response, value, lifetimeMs / 1000);
  }

  clear(response: ServerResponse): void {
    this.write(response, '', 0);
  }

  /** Returns the token. Returns `undefined` without a token, and with several tokens, because the right one is unknown. */
  read({ headers }: IncomingMessage): string | undefined {
    const { cookie } = headers;
    if (cookie?.includes(SESSION_COOKIE) !== true) return undefined;
    const tokens = cookie
      .split(';')
      .map((pair) => pair.replace(LEADING_SPACE, ''))
      .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
      .map((pair) => pair.slice(SESSION_COOKIE.length + 1));
    return tokens.length === 1 ? tokens[0] : undefined;
  }

  private write(response: ServerResponse, value: string, maxAgeSeconds: number): void {
    response.appendHeader('Set-Cookie', `${SESSION_COOKIE}=${value}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`);
    // The response is for this browser only.
    response.setHeader('Cache-Control', 'no-store');
  }
}

/** The names of this machine, for which browsers keep secure cookies without TLS. With a port, if there is one. */
const LOCAL_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether the browser will keep the session cookie, which is `Secure`. Without TLS, browsers drop the cookie silently, except
 * for the names of their own machine.
 *
 * The service may not see that a proxy ends TLS. Then the headers of the browser show it: `Sec-Fetch-Site` is sent only to
 * addresses that keep secure cookies, and `Origin` has the scheme. A form without both headers comes from a program.
 */
export function acceptsSessionCookie(request: Request): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (isSecure(request) || LOCAL_HOST.test(hostOf(request)) || site !== undefined) return true;
  return origin === undefined ? request.method === 'POST' : !origin.startsWith('http:');
}

/**
 * Begins the session of an account whose owner was just recognized, by a password, by an issuer or by a plugin.
 *
 * @since 1.0
 */
@Injectable()
export class SessionStart {
  constructor(
    private readonly accounts: AccountsService,
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  /**
   * Signs the owner of an account in, in the browser that has sent the request. A session that the browser has ends.
   *
   * @throws {ServiceError} `forbidden` when the account is disabled.
   */
  async signIn(account: Account, response: Response): Promise<void> {
    const { ip: source, context } = response.req;
    const session = await this.begin(account, undefined, source, context.session?.sessionId);
    if (session === undefined) throw new ServiceError('forbidden', 'This account cannot sign in.');
    this.cookie.set(response, session.token, session.expiresAt);
  }

  /**
   * @param account the account as it was when its owner was recognized.
   * @param origin the sign-in at an issuer.
   * @param source the address of the browser, for the audit log.
   * @param replaced the session that the browser has, which ends.
   * @returns `undefined` when the password has changed or the account was disabled meanwhile. Both end only the sessions
   * that exist at that time, so this method ends the new session itself.
   */
  async begin(
    { id, passwordHash }: Account,
    origin?: SessionOrigin,
    source?: string,
    replaced?: string,
  ): Promise<NewSession | undefined> {
    const session = await this.sessions.create(id, origin, source);
    const current = await this.accounts.findById(id);
    if (current?.passwordHash !== passwordHash || current.disabledAt !== null) {
      await this.sessions.end(session.sessionId);
      return undefined;
    }
    if (replaced !== undefined) await this.sessions.end(replaced, { actor: `account:${id}`, source });
    return session;
  }
}
