import type { Request } from 'express';
import { hostOf, isSecure } from '../same-origin/public-origin.js';

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
