import type { Request } from 'express';
import { hostOf, isSecure } from './public-origin.js';

/** `unknown`: the request does not say. Every browser of the last years does, where a page sends a form or a script. */
export type RequestSource = 'same-origin' | 'other-origin' | 'unknown';

/**
 * Whether a page of this very service has made the request, as the browser says. Other programs may say what they like:
 * they cannot make a browser send its cookie.
 *
 * A page must not be served with `Referrer-Policy: no-referrer`, as browsers then send `Origin: null` with its forms.
 */
export function sourceOf(request: Request): RequestSource {
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return 'other-origin';
  if (origin !== undefined) return isOriginOf(request, origin) ? 'same-origin' : 'other-origin';
  return site === undefined ? 'unknown' : 'same-origin';
}

function isOriginOf(request: Request, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  // Behind a proxy that says nothing of it, TLS cannot be seen from here: the origin may be secure then.
  if (url.origin !== origin || (isSecure(request) && url.protocol !== 'https:')) return false;
  const self = `${url.protocol}//${hostOf(request)}`;
  return URL.canParse(self) && new URL(self).origin === origin;
}
