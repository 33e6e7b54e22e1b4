import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { principalOf } from '../auth/current-principal.decorator.js';
import type { Principal } from '../auth/principal.js';
import { JsonBodyGuard } from '../common/json-body.guard.js';
import { HeldSlots } from './held-slots.js';
import { HeldLease, holdLease } from './held-lease.js';
import { refusalError, setLimitHeaders } from './limit-answer.js';
import { LimitStore, type TierLimits, type TokenDemand } from './limit-store.js';
import { LIMITED_BY_TIER, type TokensOf } from './limited-by-tier.decorator.js';

/** Global: keeps each account within its tier, on routes that are `@LimitedByTier()`. The tracker is the account. */
@Injectable()
export class TierThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() unused: ThrottlerStorage,
    reflector: Reflector,
    @Inject(LimitStore) private readonly limits: LimitStore,
    private readonly bodies: JsonBodyGuard,
    private readonly slots: HeldSlots,
  ) {
    super(options, unused, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(this.tokensOf(context) === undefined);
  }

  /** @param limit requests a minute, where the tier or the route has such a limit. */
  protected override async handleRequest({ context, limit }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const principal = principalOf(http.getRequest<Request>());
    const { concurrentStreams, tokensPerDay } = principal.tier;
    const requestsPerMinute = limit === Infinity ? undefined : limit;
    if (requestsPerMinute === undefined && concurrentStreams === undefined && tokensPerDay === undefined) return true;
    const limits: TierLimits = { requestsPerMinute, concurrentStreams, tokensPerDay };

    const certain = this.limits.foresee?.(principal.accountId, limits);
    if (certain !== undefined) {
      setLimitHeaders(response, this.headerPrefix, certain.state);
      throw refusalError(certain, undefined);
    }
    // Only the body tells how many tokens the request may use. A wrong one is a request, too, and counts.
    const wrongBody = await this.readBody(context);
    await this.admit(context, principal, limits, response);
    if (wrongBody !== undefined) throw wrongBody;
    return true;
  }

  private async admit(
    context: ExecutionContext,
    { accountId, tier }: Principal,
    limits: TierLimits,
    response: Response,
  ): Promise<void> {
    const request = context.switchToHttp().getRequest<Request>();
    const tokens: TokenDemand = this.tokensOf(context)?.(request.body, tier) ?? { atLeast: 0, atMost: 0 };
    const admission = await this.limits.admit({ accountId, limits, tokens });
    setLimitHeaders(response, this.headerPrefix, admission.state);
    if (!admission.admitted) throw refusalError(admission, tokens.atLeast);
    holdLease(request, new HeldLease(admission.lease, response, this.slots, limits.concurrentStreams !== undefined));
  }

  /** What is wrong with the body. */
  private async readBody(context: ExecutionContext): Promise<Error | undefined> {
    try {
      await this.bodies.canActivate(context);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  private tokensOf(context: ExecutionContext): TokensOf | undefined {
    return this.reflector.getAllAndOverride<TokensOf | undefined>(LIMITED_BY_TIER, [
      context.getHandler(),
      context.getClass(),
    ]);
  }
}
