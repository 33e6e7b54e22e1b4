import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest, type ThrottlerStorage } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { principalOf } from '../auth/principal/current-principal.decorator.js';
import type { Principal } from '../auth/principal/principal.js';
import type { ServiceError } from '../common/service-error.js';
import { RequestBodies } from '../http/body/request-bodies.js';
import { RequestLease } from './request-lease.js';
import { refusalError, setLimitHeaders } from './limit-answer.js';
import { LimitStore, type LimitName, type Refusal, type TierLimits, type TokenDemand } from './limit-store.js';
import { LIMITED_BY_TIER, type RouteLimits, type TokenUse } from './limited-by-tier.decorator.js';
import { OPENS_STREAM } from './process-load/opens-stream.decorator.js';
import { StreamPlaces } from './process-load/stream-places.js';

declare module '../http/request/request-context.js' {
  interface RequestContext {
    /** The limit of the tier that has refused the request. */
    refusedBy?: LimitName;
    /** The request repeats a request that was counted before. The limits do not count it again. */
    isRepeated?: boolean;
  }
}

const MINUTE_MS = 60_000;
const NO_TOKENS: TokenDemand = { atLeast: 0, atMost: 0 };

/** The library requires a storage, but asks it about one limit at a time. {@link LimitStore} counts all limits together. */
const NO_STORAGE: ThrottlerStorage = {
  increment: () => Promise.reject(new Error('TierThrottlerGuard counts in LimitStore only.')),
};

/**
 * Global guard: enforces the limits of the tier on routes that are `@LimitedByTier()`. Counts by account.
 *
 * The guard replaces the step of the library that counts. The library still finds the limit of the request: that of the tier,
 * or that of a route with `@Throttle()`.
 */
@Injectable()
export class TierThrottlerGuard extends ThrottlerGuard {
  constructor(
    // Without these tokens, Nest would use the tokens of the parent's parameters.
    @Inject(Reflector) reflector: Reflector,
    @Inject(LimitStore) private readonly limits: LimitStore,
    private readonly bodies: RequestBodies,
    private readonly places: StreamPlaces,
  ) {
    super([{ ttl: MINUTE_MS, limit: requestsPerMinute }], NO_STORAGE, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(this.routeLimits(context) === undefined);
  }

  /** @param limit requests per minute, or `Infinity` when neither the tier nor the route has such a limit. */
  protected override async handleRequest({ context, limit }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const request = http.getRequest<Request>();
    const principal = principalOf(request);
    const { concurrentStreams, tokensPerDay } = principal.tier;
    const requestsPerMinute = limit === Infinity ? undefined : limit;
    const limits: TierLimits = { requestsPerMinute, concurrentStreams, tokensPerDay };
    const opensStream = this.opensStream(context);
    if (requestsPerMinute === undefined && concurrentStreams === undefined && tokensPerDay === undefined) {
      if (opensStream && request.context.isRepeated !== true) await this.takePlace(context, response);
      return true;
    }

    const { tokenUse, counts = true } = this.routeLimits(context) ?? {};
    if (!counts || request.context.isRepeated === true) {
      setLimitHeaders(response, this.headerPrefix, await this.limits.peek(principal.accountId, limits));
      return true;
    }
    const needed = tokenUse === undefined ? { ...limits, tokensPerDay: undefined } : limits;
    const certain = this.limits.foresee?.(principal.accountId, needed);
    if (certain !== undefined) {
      setLimitHeaders(response, this.headerPrefix, certain.state);
      throw refused(request, certain, undefined);
    }
    const overload = opensStream ? this.places.refusal() : undefined;
    if (overload !== undefined) {
      setLimitHeaders(response, this.headerPrefix, await this.limits.peek(principal.accountId, limits));
      throw overload;
    }
    // The body determines how many tokens the request may use. A request with an invalid body counts too, and
    // RequestBodyGuard refuses the request afterwards.
    const { error } = await this.bodies.read(context, tokenUse?.body);
    const leavePlace = opensStream ? this.places.take(response) : undefined;
    await this.admit(context, principal, limits, error === undefined ? tokenUse : undefined).catch(
      (refusal: unknown) => {
        leavePlace?.();
        throw refusal;
      },
    );
    return true;
  }

  /** Takes a place for a tier without limits. Only the limit of the process applies. */
  private async takePlace(context: ExecutionContext, response: Response): Promise<void> {
    const overload = this.places.refusal();
    if (overload !== undefined) throw overload;
    const { error } = await this.bodies.read(context);
    if (error === undefined) this.places.take(response);
  }

  /** @param tokenUse `undefined` when the request uses no tokens. */
  private async admit(
    context: ExecutionContext,
    { accountId, tier }: Principal,
    limits: TierLimits,
    tokenUse: TokenUse | undefined,
  ): Promise<void> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const body = request.body as object | undefined;
    const usesTokens = limits.tokensPerDay !== undefined && body !== undefined;
    const tokens = (usesTokens ? tokenUse?.tokensOf(body, tier) : undefined) ?? NO_TOKENS;
    const admission = await this.limits.admit({ accountId, limits, tokens });
    setLimitHeaders(response, this.headerPrefix, admission.state);
    if (!admission.admitted) throw refused(request, admission, tokens.atLeast);
    const holdsPlace = limits.concurrentStreams !== undefined;
    request.context.lease = new RequestLease(admission.lease, response, this.places, holdsPlace);
  }

  private opensStream(context: ExecutionContext): boolean {
    return (
      this.reflector.getAllAndOverride<boolean | undefined>(OPENS_STREAM, [context.getHandler(), context.getClass()]) ??
      false
    );
  }

  private routeLimits(context: ExecutionContext): RouteLimits | undefined {
    return this.reflector.getAllAndOverride<RouteLimits | undefined>(LIMITED_BY_TIER, [
      context.getHandler(),
      context.getClass(),
    ]);
  }
}

/** Returns the error for a refusal, and notes the limit for the observers of the request. */
function refused({ context }: Request, refusal: Refusal, needed: number | undefined): ServiceError {
  context.refusedBy = refusal.refusedBy;
  return refusalError(refusal, needed);
}

/** A missing limit means unlimited. */
function requestsPerMinute(context: ExecutionContext): number {
  return principalOf(context.switchToHttp().getRequest<Request>()).tier.requestsPerMinute ?? Infinity;
}
