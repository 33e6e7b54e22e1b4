import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { callerIn } from '../../auth/session/request-session.js';
import { RequestBudgets, type BudgetName } from './request-budgets.js';

const BUDGET = Symbol('BUDGET');

/** Counts the requests to a route against its budget. A request without an account, on a public route, is not counted. */
@Injectable()
class RequestBudgetGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly budgets: RequestBudgets,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { operatorKey } = request.context;
    const callerId = operatorKey?.id ?? callerIn(request.context)?.accountId;
    if (callerId === undefined) return true;
    const budget = this.reflector.getAllAndOverride<BudgetName>(BUDGET, [context.getHandler(), context.getClass()]);
    await this.budgets.count(budget, callerId, request, http.getResponse<Response>());
    return true;
  }
}

/**
 * Limits the requests of each account, or of each operator key, to a route by a budget of `REQUEST_BUDGETS`, instead of the limits of
 * the tier. Above the budget, the route answers 429 `rate_limit_exceeded`. Nest runs guards from the lowest decorator up, so this decorator stands
 * above one that refuses callers.
 *
 * @example `@Get() @LimitedByBudget('reports')`
 */
export const LimitedByBudget = (budget: BudgetName): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(BUDGET, budget), UseGuards(RequestBudgetGuard));
