import { Inject, Injectable } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLOCK, type Clock } from '../../common/clock.js';

/** Browsers take a cookie of this prefix from this host only, over HTTPS (or from localhost), for all paths. */
const NAME = '__Host-session';
/**
 * Not `trim`, which takes away more kinds of space than browsers know in a cookie's name: a sibling host could set one
 * that only looks like ours, without our prefix.
 */
const LEADING_SPACE = /^[ \t]+/;
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** The cookie that carries the session's token. */
@Injectable()
export class SessionCookie {
  constructor(@Inject(CLOCK) private readonly now: Clock) {}

  set(response: ServerResponse, token: string, expiresAt: Date): void {
    // An age and not a date, as the browser's clock may be wrong.
    this.write(response, token, Math.floor((expiresAt.getTime() - this.now()) / 1000));
  }

  clear(response: ServerResponse): void {
    this.write(response, '', 0);
  }

  /** The token, or `undefined`: also when there are several, of which nobody can tell the right one. */
  read({ headers }: IncomingMessage): string | undefined {
    const { cookie } = headers;
    if (cookie?.includes(NAME) !== true) return undefined;
    const tokens = cookie
      .split(';')
      .map((pair) => pair.replace(LEADING_SPACE, ''))
      .filter((pair) => pair.startsWith(`${NAME}=`))
      .map((pair) => pair.slice(NAME.length + 1));
    return tokens.length === 1 ? tokens[0] : undefined;
  }

  private write(response: ServerResponse, value: string, maxAgeSeconds: number): void {
    response.appendHeader('Set-Cookie', `${NAME}=${value}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`);
    // The answer is for this browser alone.
    response.setHeader('Cache-Control', 'no-store');
  }
}
