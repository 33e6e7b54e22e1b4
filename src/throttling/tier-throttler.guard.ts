import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { principalOf } from '../auth/current-principal.decorator.js';
import type { Principal } from '../auth/principal.js';
import { ServiceError } from '../common/service-error.js';
import { LIMITED_BY_TIER } from './limited-by-tier.decorator.js';
import type { Count, RequestCounts } from './request-counts.js';
import { StreamSlots } from './stream-slots.js';

/** A slot comes free when a stream ends, which nobody can foretell. */
const CONCURRENCY_RETRY_SECONDS = 1;

/** Global: keeps each account within its tier, on routes that are `@LimitedByTier()`. The tracker is the account. */
@Injectable()
export class TierThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly counts: RequestCounts,
    reflector: Reflector,
    @Inject(StreamSlots) private readonly slots: StreamSlots,
  ) {
    super(options, counts, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    const isLimited = this.reflector.getAllAndOverride<boolean | undefined>(LIMITED_BY_TIER, targets) ?? false;
    return Promise.resolve(!isLimited);
  }

  protected override async handleRequest({ context, limit, ttl }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const principal = principalOf(http.getRequest<Request>());
    const { accountId } = principal;

    // The slot first: a refusal for concurrency must not use up a request of the minute.
    if (!(await this.takeSlot(principal, response))) {
      if (limit !== Infinity) this.setHeaders(response, limit, await this.counts.peek(accountId, ttl));
      const message = `The tier allows ${principal.tier.concurrentStreams ?? 0} streams at once.`;
      throw new ServiceError('concurrency_limit_exceeded', message, { retryAfterSeconds: CONCURRENCY_RETRY_SECONDS });
    }
    if (limit === Infinity) return true;
    const count = await this.counts.increment(accountId, ttl, limit, ttl, 'requests');
    this.setHeaders(response, limit, count);
    if (count.isBlocked) {
      const message = `The tier allows ${limit} requests a minute.`;
      throw new ServiceError('rate_limit_exceeded', message, { retryAfterSeconds: count.timeToBlockExpire });
    }
    return true;
  }

  private setHeaders(response: Response, limit: number, count: Pick<Count, 'totalHits' | 'timeToExpire'>): void {
    response.setHeader(`${this.headerPrefix}-Limit`, limit);
    response.setHeader(`${this.headerPrefix}-Remaining`, Math.max(0, limit - count.totalHits));
    response.setHeader(`${this.headerPrefix}-Reset`, count.timeToExpire);
  }

  /** Takes a slot until the response is over, however it ends; false when there is none. */
  private async takeSlot({ accountId, tier }: Principal, response: Response): Promise<boolean> {
    if (tier.concurrentStreams === undefined) return true;
    const slot = await this.slots.acquire(accountId, tier.concurrentStreams);
    if (slot === undefined) return false;
    if (response.closed) slot.release();
    else response.once('close', slot.release);
    return true;
  }
}
