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
import { principalOf } from '../auth/principal/current-principal.decorator.js';
import type { Principal } from '../auth/principal/principal.js';
import { RequestBodyGuard } from '../http/body/request-body.guard.js';
import { HeldLease } from './held-lease.js';
import { HeldSlots } from './held-slots.js';
import { refusalError, setLimitHeaders } from './limit-answer.js';
import { LimitStore, type TierLimits, type TokenDemand } from './limit-store.js';
import { LIMITED_BY_TIER, usesNoTokens, type TokensOf } from './limited-by-tier.decorator.js';
import { OPENS_STREAM } from './process-load/opens-stream.decorator.js';
import { StreamPlaces } from './process-load/stream-places.js';

/** Global guard: enforces the limits of the tier on routes that are `@LimitedByTier()`. Counts by account. */
@Injectable()
export class TierThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() unused: ThrottlerStorage,
    reflector: Reflector,
    @Inject(LimitStore) private readonly limits: LimitStore,
    private readonly bodies: RequestBodyGuard,
    private readonly slots: HeldSlots,
    private readonly places: StreamPlaces,
  ) {
    super(options, unused, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(this.tokensOf(context) === undefined);
  }

  /** @param limit requests per minute, or `Infinity` when neither the tier nor the route has such a limit. */
  protected override async handleRequest({ context, limit }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const principal = principalOf(http.getRequest<Request>());
    const { concurrentStreams, tokensPerDay } = principal.tier;
    const requestsPerMinute = limit === Infinity ? undefined : limit;
    const limits: TierLimits = { requestsPerMinute, concurrentStreams, tokensPerDay };
    const opensStream = this.opensStream(context);
    if (requestsPerMinute === undefined && concurrentStreams === undefined && tokensPerDay === undefined) {
      if (opensStream) await this.takePlace(context, response);
      return true;
    }

    const needed = this.tokensOf(context) === usesNoTokens ? { ...limits, tokensPerDay: undefined } : limits;
    const certain = this.limits.foresee?.(principal.accountId, needed);
    if (certain !== undefined) {
      setLimitHeaders(response, this.headerPrefix, certain.state);
      throw refusalError(certain, undefined);
    }
    const overload = opensStream ? this.places.refusal() : undefined;
    if (overload !== undefined) {
      setLimitHeaders(response, this.headerPrefix, await this.limits.peek(principal.accountId, limits));
      throw overload;
    }
    // The body determines how many tokens the request may use. A request with an invalid body counts too.
    const wrongBody = await this.readBody(context);
    const leavePlace = opensStream ? this.places.take(response) : undefined;
    await this.admit(context, principal, limits, response).catch((refusal: unknown) => {
      leavePlace?.();
      throw refusal;
    });
    if (wrongBody !== undefined) throw wrongBody;
    return true;
  }

  /** Takes a place for a tier without limits. Only the limit of the process applies. */
  private async takePlace(context: ExecutionContext, response: Response): Promise<void> {
    const overload = this.places.refusal();
    if (overload !== undefined) throw overload;
    await this.bodies.canActivate(context);
    this.places.take(response);
  }

  private async admit(
    context: ExecutionContext,
    { accountId, tier }: Principal,
    limits: TierLimits,
    response: Response,
  ): Promise<void> {
    const request = context.switchToHttp().getRequest<Request>();
    const demand = limits.tokensPerDay === undefined ? undefined : this.tokensOf(context)?.(request.body, tier);
    const tokens: TokenDemand = demand ?? { atLeast: 0, atMost: 0 };
    const admission = await this.limits.admit({ accountId, limits, tokens });
    setLimitHeaders(response, this.headerPrefix, admission.state);
    if (!admission.admitted) throw refusalError(admission, tokens.atLeast);
    const holdsSlot = limits.concurrentStreams !== undefined;
    request.context.lease = new HeldLease(admission.lease, response, this.slots, holdsSlot);
  }

  /** Reads the body. Returns the error when the body cannot be accepted. */
  private async readBody(context: ExecutionContext): Promise<Error | undefined> {
    try {
      await this.bodies.canActivate(context);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  private opensStream(context: ExecutionContext): boolean {
    return (
      this.reflector.getAllAndOverride<boolean | undefined>(OPENS_STREAM, [context.getHandler(), context.getClass()]) ??
      false
    );
  }

  private tokensOf(context: ExecutionContext): TokensOf | undefined {
    return this.reflector.getAllAndOverride<TokensOf | undefined>(LIMITED_BY_TIER, [
      context.getHandler(),
      context.getClass(),
    ]);
  }
}
