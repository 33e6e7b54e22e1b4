import { Inject, Injectable, Optional, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest, type ThrottlerStorage } from '@nestjs/throttler';
import type { Request } from 'express';
import { principalOf } from '../auth/principal/principal.js';
import { MINUTE_MS } from '../platform/common/clock.js';
import { RouteMetadata } from '../platform/common/route-metadata.js';
import { limitsOfCaller } from './account-limits.js';
import { RepeatedRequests, RequestLimiter, type LimitedRequest } from './request-limiter.js';
import { LIMITED_BY_TIER, OPENS_STREAM, type RouteLimits } from './limited-by-tier.decorator.js';

/** The library requires a storage, but asks it about one limit at a time. `LimitStore` counts all limits together. */
const NO_STORAGE: ThrottlerStorage = {
  increment: () => Promise.reject(new Error('TierThrottlerGuard counts in LimitStore only.')),
};

/**
 * Global guard, the precheck: determines the limits of a request to a route that is `@LimitedByTier()` or `@OpensStream()`, and refuses the
 * request when a refusal is already certain. This guard comes before the guard that reads the body, so a caller without quota
 * cannot make the process read 4 MiB. `AdmissionGuard` counts the request afterwards.
 *
 * The guard replaces the step of the library that counts. The library still finds the limit of the request: that of the tier,
 * or that of a route with `@Throttle()`.
 */
@Injectable()
export class TierThrottlerGuard extends ThrottlerGuard {
  constructor(
    // Without these tokens, Nest would use the tokens of the parent's parameters.
    @Inject(RouteMetadata) reflector: Reflector,
    @Inject(RequestLimiter) private readonly limiter: RequestLimiter,
    @Optional() @Inject(RepeatedRequests) private readonly repeated?: RepeatedRequests,
  ) {
    super([{ ttl: MINUTE_MS, limit: requestsPerMinute }], NO_STORAGE, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    const isLimited = [LIMITED_BY_TIER, OPENS_STREAM].some((key) => this.metadata(context, key) !== undefined);
    return Promise.resolve(!isLimited);
  }

  /** @param limit requests per minute, or `Infinity` when neither the tier nor the route has such a limit. */
  protected override async handleRequest({ context, limit }: ThrottlerRequest): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { tokenUse, counts = true } = (this.metadata(context, LIMITED_BY_TIER) ?? {}) as RouteLimits;
    const principal = principalOf(request);
    const { accountId, tier } = principal;
    const limited: LimitedRequest = {
      accountId,
      tier,
      limits: limitsOfCaller(principal, { ...tier, requestsPerMinute: limit === Infinity ? undefined : limit }),
      tokenUse,
      counts,
      opensStream: this.metadata(context, OPENS_STREAM) === true,
    };
    request.context.limited = limited;
    if (counts) await this.limiter.precheck(context, limited, this.repeated);
    return true;
  }

  private metadata(context: ExecutionContext, key: string | symbol): unknown {
    return this.reflector.getAllAndOverride<unknown>(key, [context.getHandler(), context.getClass()]);
  }
}

/** A missing limit means unlimited. */
function requestsPerMinute(context: ExecutionContext): number {
  return principalOf(context.switchToHttp().getRequest<Request>()).tier.requestsPerMinute ?? Infinity;
}
