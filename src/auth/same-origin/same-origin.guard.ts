import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { isForm } from '../../http/body/form/form.decorator.js';
import { sourceOf } from './same-origin.js';

/** Methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Global, after authentication and before anything is counted: a page of another site must not act with the session of
 * whoever looks at it, nor sign them in as somebody else. So whatever has a session must show that it comes from here,
 * and a `@Form()` without one must not come from elsewhere.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (SAFE_METHODS.has(request.method)) return true;
    const hasSession = request.session !== undefined;
    if (!hasSession && !isForm(this.reflector, context)) return true;
    const source = sourceOf(request);
    if (source === 'same-origin' || (source === 'unknown' && !hasSession)) return true;
    throw new ServiceError('forbidden', explanation(request));
  }
}

function explanation({ headers }: Request): string {
  const claim = 'This can be done from the pages of this service only.';
  if (headers['sec-fetch-site'] !== 'same-origin') return claim;
  // So the browser agrees, and it is the host that came with the request which does not fit.
  return `${claim} The origin and the host of the request differ: a proxy in front must pass the host on (see TRUST_PROXY).`;
}
