import type { Request } from 'express';
import { hostOf, isSecure } from './public-origin.js';

/** `unknown`: no header names the source. All recent browsers send such a header with forms and with requests from scripts. */
export type RequestSource = 'same-origin' | 'other-origin' | 'unknown';

/**
 * Reads from the browser's headers whether a page of this service has made the request. Other programs can send any
 * headers, but they cannot make a browser send its cookie.
 *
 * Pages must not have `Referrer-Policy: no-referrer`, because browsers then send `Origin: null` with their forms.
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
  // A proxy may end TLS without a header that says so. So a secure origin is valid even when the request looks insecure.
  if (url.origin !== origin || (isSecure(request) && url.protocol !== 'https:')) return false;
  const self = `${url.protocol}//${hostOf(request)}`;
  return URL.canParse(self) && new URL(self).origin === origin;
}
