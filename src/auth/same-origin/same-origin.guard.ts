import type { Request } from 'express';
import { hostOf, isSecure } from './public-origin.js';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RouteMetadata } from '../../platform/common/route-metadata.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { isForm } from '../../platform/http/body/body-class.decorator.js';

/** `unknown`: no header names the source. All recent browsers send such a header with forms and with requests from scripts. */
type RequestSource = 'same-origin' | 'other-origin' | 'unknown';

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

/** Methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Global guard against requests from pages of other sites. Runs after authentication and before any limit is counted. A
 * page of another site must not use the session of its visitor, and must not sign the visitor in to another account. So a
 * request with a session must show that it comes from a page of this service. A `@Form()` request without a session must
 * not come from another origin.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(@Inject(RouteMetadata) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (SAFE_METHODS.has(request.method)) return true;
    const hasSession = request.context.session !== undefined;
    if (!hasSession && !isForm(this.reflector, context)) return true;
    const source = sourceOf(request);
    if (source === 'same-origin' || (source === 'unknown' && !hasSession)) return true;
    throw new ServiceError('forbidden', explanation(request));
  }
}

function explanation({ headers }: Request): string {
  const claim = 'This request must come from a page of this service.';
  if (headers['sec-fetch-site'] !== 'same-origin') return claim;
  // The browser says that the origin is the same. So the host in the request is not the host that the browser sees.
  return `${claim} The origin and the host of the request differ: the proxy in front must forward the host (see TRUST_PROXY).`;
}
