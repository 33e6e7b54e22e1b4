import {
  Inject,
  Injectable,
  applyDecorators,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { Reflector } from '@nestjs/core';
import { ServiceError } from '../../platform/common/service-error.js';
import { setBudgetHeaders } from '../limit-response.js';
import { LimitStore, type Limit } from '../limit-store.js';
import { callerIn } from '../../auth/session/request-session.js';

/** `account`: an account with all its keys and sessions. */
type BudgetOwner = 'account' | 'operator_key';

/** The beginnings of the error messages. */
const MAY: Readonly<Record<BudgetOwner, string>> = {
  account: 'An account can request',
  operator_key: 'An operator key can send',
};

interface RequestBudget {
  /** Whose requests are counted. */
  readonly of: BudgetOwner;
  readonly requestsPerMinute: number;
  /** The requests of the budget, in the plural, for the error message. */
  readonly requests: string;
}

/**
 * How many requests of a kind each account, or each operator key, may send per minute, whatever its tier. A minute begins with its
 * first request.
 * These requests do not count towards the limits of the tier, so an account that has used up its tier can still read why.
 */
export const REQUEST_BUDGETS = {
  /** `GET /usage` and receipts. */
  reports: { of: 'account', requestsPerMinute: 60, requests: 'reports and receipts' },
  /** The pages that read the usage. A program that uses up `reports` does not lock its owner out of these pages. */
  pages: { of: 'account', requestsPerMinute: 120, requests: 'pages with usage' },
  /** `POST /messages/count_tokens`. Agents count the tokens before many requests. */
  token_counts: { of: 'account', requestsPerMinute: 600, requests: 'token counts' },
  /** The API for operators. */
  operator_api: { of: 'operator_key', requestsPerMinute: 600, requests: 'requests' },
} as const satisfies Record<string, RequestBudget>;

export type BudgetName = keyof typeof REQUEST_BUDGETS;

/** Returns the names of the budgets of accounts, or of operator keys. */
export function budgetNamesOf(owner: BudgetOwner): readonly string[] {
  return Object.entries(REQUEST_BUDGETS).flatMap(([name, { of }]) => (of === owner ? name : []));
}

/** Counts requests against {@link REQUEST_BUDGETS}, in the limit store: exactly for all replicas, if the store is shared. */
@Injectable()
export class RequestBudgets {
  constructor(@Inject(LimitStore) private readonly limits: LimitStore) {}

  /**
   * Counts a request of the account or the operator key with this id, and sets the headers `X-RateLimit-*` of the budget.
   *
   * @throws {ServiceError} `rate_limit_exceeded` when the budget is used up, `unavailable` when the store is too slow.
   */
  async count(budget: BudgetName, callerId: string, { context }: Request, response: Response): Promise<void> {
    const { of, requestsPerMinute, requests } = REQUEST_BUDGETS[budget];
    const limits: readonly Limit[] = [{ name: budget, unit: 'requests', window: 'minute', max: requestsPerMinute }];
    const counted = `${callerId}:${budget}`;
    const admission =
      this.limits.precheck?.(counted, limits) ??
      (await this.limits.admit({ accountId: counted, limits, tokens: { atLeast: 0, atMost: 0 } }));
    const state = admission.state[budget];
    if (state !== undefined) setBudgetHeaders(response, state);
    if (admission.admitted) return;
    context.refusedBy = budget;
    const message = `${MAY[of]} at most ${requestsPerMinute} ${requests} per minute.`;
    throw new ServiceError('rate_limit_exceeded', message, {
      retryAfterSeconds: admission.retryAfterSeconds,
      retryAfterMs: admission.retryAfterMs,
    });
  }
}

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
