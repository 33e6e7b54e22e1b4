import { applyDecorators, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { AccountRoles } from '../../../plugin-api/core/accounts.js';
import { sessionOf, unauthenticated } from '../../../plugin-api/core/auth.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { Public } from '../../../plugin-api/core/http.js';

/** The methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * Accepts only sessions of operators. A browser without a session gets the page to sign in, because a session can have expired. For
 * everyone else, the page does not exist. Before a change, the guard asks the database,
 * because a remembered session can be half a second old, and because other guards have waited for the body of the form.
 */
@Injectable()
class OperatorGuard implements CanActivate {
  constructor(private readonly roles: AccountRoles) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const session = sessionOf(request);
    if (session?.account.role === 'operator') {
      if (SAFE_METHODS.has(request.method) || (await this.roles.isOperator(session.sessionId))) return true;
    }
    const isSignedOut = session === undefined && request.headers.authorization === undefined;
    if (isSignedOut) throw unauthenticated('Sign in as an operator.');
    throw new ServiceError('not_found', 'This path does not exist.');
  }
}

/**
 * Opens a route, or all routes of a controller, to sessions of operators only. Visitors are asked to sign in, and all others get 404. API keys are not accepted,
 * also not the keys of operators.
 *
 * @since 1.0
 */
export const OperatorOnly = (): MethodDecorator & ClassDecorator => applyDecorators(Public(), UseGuards(OperatorGuard));
