import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { isForm } from '../../http/body/form/form.decorator.js';
import { sourceOf } from './same-origin.js';

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
  constructor(private readonly reflector: Reflector) {}

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
