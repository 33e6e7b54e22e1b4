import { applyDecorators, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { AccountRoles } from '../../accounts/accounts/account-roles.js';
import { sessionOf } from '../../auth/session/request-session.js';
import { ServiceError } from '../../common/service-error.js';
import { Public } from '../../http/routing/public.decorator.js';

/** The methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * Accepts only sessions of operators. For everyone else, the page does not exist. Before a change, the guard asks the database,
 * because a remembered session can be half a second old, and because other guards have waited for the body of the form.
 */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(private readonly roles: AccountRoles) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const session = sessionOf(request);
    if (session?.account.role === 'operator') {
      if (SAFE_METHODS.has(request.method) || (await this.roles.isOperator(session.sessionId))) return true;
    }
    throw new ServiceError('not_found', 'This path does not exist.');
  }
}

/**
 * Opens a route, or all routes of a controller, to sessions of operators only. Everyone else gets 404. API keys are not accepted,
 * also not the keys of operators.
 *
 * @since 1.0
 */
export const OperatorOnly = (): MethodDecorator & ClassDecorator => applyDecorators(Public(), UseGuards(OperatorGuard));
