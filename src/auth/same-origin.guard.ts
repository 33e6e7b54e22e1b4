import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { isForm } from '../common/form.decorator.js';
import { ServiceError } from '../common/service-error.js';
import { isSameOrigin } from './same-origin.js';

/** Methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Global, after authentication and before anything is counted: a page of another site must not act with the session of
 * whoever looks at it, nor sign them in as somebody else. So it asks whatever has a session, and every `@Form()`.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (SAFE_METHODS.has(request.method)) return true;
    if (request.session === undefined && !isForm(this.reflector, context)) return true;
    if (isSameOrigin(request)) return true;
    throw new ServiceError('forbidden', 'A session can be used from the pages of this service only.');
  }
}
