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
import { ServiceError } from '../platform/common/service-error.js';
import { setRateHeaders } from './limit-response.js';
import { LimitStore, type Limit } from './limit-store.js';
import { callerIn } from '../auth/session/request-session.js';

/** `account`: an account with all its keys and sessions. */
type RateOwner = 'account' | 'operator_key';

/** The beginnings of the error messages. */
const MAY: Readonly<Record<RateOwner, string>> = {
  account: 'An account can request',
  operator_key: 'An operator key can send',
};

interface RequestRate {
  /** Whose requests are counted. */
  readonly of: RateOwner;
  readonly requestsPerMinute: number;
  /** The requests of this kind, in the plural, for the error message. */
  readonly requests: string;
}

/**
 * How many requests of a kind each account, or each operator key, may send per minute, whatever its tier. A minute begins with its
 * first request.
 * These requests do not count towards the limits of the tier, so an account that has used up its tier can still read why.
 */
export const REQUEST_RATES = {
  /** `GET /usage` and receipts. */
  reports: { of: 'account', requestsPerMinute: 60, requests: 'reports and receipts' },
  /** The pages that read the usage. A program that uses up `reports` does not lock its owner out of these pages. */
  pages: { of: 'account', requestsPerMinute: 120, requests: 'pages with usage' },
  /** `POST /messages/count_tokens`. Agents count the tokens before many requests. */
  token_counts: { of: 'account', requestsPerMinute: 600, requests: 'token counts' },
  /** The API for operators. */
  operator_api: { of: 'operator_key', requestsPerMinute: 600, requests: 'requests' },
} as const satisfies Record<string, RequestRate>;

export type RateName = keyof typeof REQUEST_RATES;

/** Returns the names of the rates of accounts, or of operator keys. */
export function rateNamesOf(owner: RateOwner): readonly string[] {
  return Object.entries(REQUEST_RATES).flatMap(([name, { of }]) => (of === owner ? name : []));
}

/** Counts requests against {@link REQUEST_RATES}, in the limit store: exactly for all replicas, if the store is shared. */
@Injectable()
export class RequestRates {
  constructor(@Inject(LimitStore) private readonly limits: LimitStore) {}

  /**
   * Counts a request of the account or the operator key with this id, and sets the headers `X-RateLimit-*` of the rate.
   *
   * @throws {ServiceError} `rate_limit_exceeded` above the rate, `unavailable` when the store is too slow.
   */
  async count(rate: RateName, callerId: string, { context }: Request, response: Response): Promise<void> {
    const { of, requestsPerMinute, requests } = REQUEST_RATES[rate];
    const limits: readonly Limit[] = [{ name: rate, unit: 'requests', window: 'minute', max: requestsPerMinute }];
    const counted = `${callerId}:${rate}`;
    const admission =
      this.limits.precheck?.(counted, limits) ??
      (await this.limits.admit({ accountId: counted, limits, tokens: { atLeast: 0, atMost: 0 } }));
    const state = admission.state[rate];
    if (state !== undefined) setRateHeaders(response, state);
    if (admission.admitted) return;
    context.refusedBy = rate;
    const message = `${MAY[of]} at most ${requestsPerMinute} ${requests} per minute.`;
    throw new ServiceError('rate_limit_exceeded', message, {
      retryAfterSeconds: admission.retryAfterSeconds,
      retryAfterMs: admission.retryAfterMs,
    });
  }
}

const RATE = Symbol('RATE');

/** Counts the requests to a route against its rate. A request without an account, on a public route, is not counted. */
@Injectable()
class RequestRateGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly rates: RequestRates,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { operatorKey } = request.context;
    const callerId = operatorKey?.id ?? callerIn(request.context)?.accountId;
    if (callerId === undefined) return true;
    const rate = this.reflector.getAllAndOverride<RateName>(RATE, [context.getHandler(), context.getClass()]);
    await this.rates.count(rate, callerId, request, http.getResponse<Response>());
    return true;
  }
}

/**
 * Limits the requests of each account, or of each operator key, to a route by one of `REQUEST_RATES`, instead of the limits of
 * the tier. Above the rate, the route answers 429 `rate_limit_exceeded`. Nest runs guards from the lowest decorator up, so this decorator stands
 * above one that refuses callers.
 *
 * @example `@Get() @RateLimited('reports')`
 */
export const RateLimited = (rate: RateName): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(RATE, rate), UseGuards(RequestRateGuard));
