import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal.js';

/**
 * Returns the principal that the authentication guard has accepted.
 *
 * @throws {Error} when the route is public or the guard did not run.
 */
export function principalOf(request: Request): Principal {
  const { principal } = request.context;
  if (principal === undefined)
    throw new Error('The request has no principal: the route is public, or its guard did not run.');
  return principal;
}

/**
 * Parameter decorator: the principal that makes the request. Not for routes that are `@Public()`.
 *
 * @since 1.0
 */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);
