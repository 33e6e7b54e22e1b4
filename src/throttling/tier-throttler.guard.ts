import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  ThrottlerStorage,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { principalOf } from '../auth/current-principal.decorator.js';
import type { Principal } from '../auth/principal.js';
import { ServiceError } from '../common/service-error.js';
import { LIMITED_BY_TIER } from './limited-by-tier.decorator.js';
import { StreamSlots } from './stream-slots.js';

/** A slot comes free when a stream ends, which nobody can foretell. */
const CONCURRENCY_RETRY_SECONDS = 1;

/** Global: keeps each account within its tier, on routes that are `@LimitedByTier()`. The tracker is the account. */
@Injectable()
export class TierThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    @Inject(StreamSlots) private readonly slots: StreamSlots,
  ) {
    super(options, storage, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    const isLimited = this.reflector.getAllAndOverride<boolean | undefined>(LIMITED_BY_TIER, targets) ?? false;
    return Promise.resolve(!isLimited);
  }

  protected override async handleRequest({ context, limit, ttl, throttler }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const principal = principalOf(http.getRequest<Request>());

    // The slot first: a refusal for concurrency must not use up a request of the minute.
    await this.takeSlot(principal, response);
    if (limit === Infinity) return true;
    const count = await this.storageService.increment(
      principal.accountId,
      ttl,
      limit,
      ttl,
      throttler.name ?? 'default',
    );
    response.setHeader(`${this.headerPrefix}-Limit`, limit);
    response.setHeader(`${this.headerPrefix}-Remaining`, Math.max(0, limit - count.totalHits));
    response.setHeader(`${this.headerPrefix}-Reset`, count.timeToExpire);
    if (count.isBlocked) {
      throw new ServiceError('rate_limit_exceeded', `The tier allows ${limit} requests a minute.`, {
        retryAfterSeconds: count.timeToBlockExpire,
      });
    }
    return true;
  }

  /** Holds the slot until the response is over, however it ends. */
  private async takeSlot({ accountId, tier }: Principal, response: Response): Promise<void> {
    if (tier.concurrentStreams === undefined) return;
    const slot = await this.slots.acquire(accountId, tier.concurrentStreams);
    if (slot === undefined) {
      throw new ServiceError(
        'concurrency_limit_exceeded',
        `The tier allows ${tier.concurrentStreams} streams at once.`,
        {
          retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
        },
      );
    }
    if (response.closed) slot.release();
    else response.once('close', slot.release);
  }
}
