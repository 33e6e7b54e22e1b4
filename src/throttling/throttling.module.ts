import { Module, type DynamicModule, type ExecutionContext } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { principalOf } from '../auth/current-principal.decorator.js';
import { InProcessStreamSlots } from './in-process-stream-slots.js';
import { InProcessThrottlerStorage } from './in-process-throttler-storage.js';
import type { RequestCounts } from './request-counts.js';
import { StreamSlots } from './stream-slots.js';
import { TierThrottlerGuard } from './tier-throttler.guard.js';

const MINUTE_MS = 60_000;

/** A missing limit is no limit. */
function requestsPerMinute(context: ExecutionContext): number {
  return principalOf(context.switchToHttp().getRequest<Request>()).tier.requestsPerMinute ?? Infinity;
}

export interface ThrottlingOptions {
  /** Where requests are counted; by default in this process. */
  readonly requestCounts?: RequestCounts;
  /** Where open streams are counted; by default in this process. */
  readonly streamSlots?: StreamSlots;
}

/** Limits each account to what its tier allows. */
@Module({})
export class ThrottlingModule {
  static register({
    requestCounts = new InProcessThrottlerStorage(),
    streamSlots = new InProcessStreamSlots(),
  }: ThrottlingOptions = {}): DynamicModule {
    return {
      module: ThrottlingModule,
      imports: [
        ThrottlerModule.forRoot({ throttlers: [{ ttl: MINUTE_MS, limit: requestsPerMinute }], storage: requestCounts }),
      ],
      providers: [TierThrottlerGuard, { provide: StreamSlots, useValue: streamSlots }],
      exports: [TierThrottlerGuard, StreamSlots],
    };
  }
}
