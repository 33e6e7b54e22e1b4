import { Module, type ExecutionContext } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { principalOf } from '../auth/current-principal.decorator.js';
import { InProcessStreamSlots } from './in-process-stream-slots.js';
import { InProcessThrottlerStorage } from './in-process-throttler-storage.js';
import { StreamSlots } from './stream-slots.js';
import { TierThrottlerGuard } from './tier-throttler.guard.js';

const MINUTE_MS = 60_000;

/** A missing limit is no limit. */
function requestsPerMinute(context: ExecutionContext): number {
  return principalOf(context.switchToHttp().getRequest<Request>()).tier.requestsPerMinute ?? Infinity;
}

/** Limits each account to what its tier allows. */
@Module({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [{ ttl: MINUTE_MS, limit: requestsPerMinute }],
      storage: new InProcessThrottlerStorage(),
    }),
  ],
  providers: [TierThrottlerGuard, { provide: StreamSlots, useClass: InProcessStreamSlots }],
  exports: [TierThrottlerGuard],
})
export class ThrottlingModule {}
