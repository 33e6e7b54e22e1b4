import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { ProvidedExtension } from '../platform/common/extensions/extensions.js';
import { REDIS, type RedisConnection } from '../platform/redis/redis-connection.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { RequestRates } from './request-rates.js';
import { InProcessLimitStore } from './in-process/in-process-limit-store.js';
import { LimitFallback } from './limit-fallback.js';
import { LimitStore } from './limit-store.js';
import { StreamSlots } from './process-load/stream-slots.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import { AdmissionGuard } from './admission.guard.js';
import { PluginLimits } from './plugin-limits.js';
import { RequestLimiter } from './request-limiter.js';
import { RefusedBodies } from '../platform/http/body/request-body.guard.js';
import { TierThrottlerGuard } from './tier-throttler.guard.js';
import { TokensUsed } from './tokens/tokens-used.js';

interface ThrottlingOptions {
  /** Counts the use of limits. By default, the store counts in Redis if REDIS_URL is set, otherwise in this process. */
  readonly limitStore?: ProvidedExtension | undefined;
}

/** Limits each account to what its tier allows. */
@Global()
@Module({})
export class ThrottlingModule {
  static register({ limitStore }: ThrottlingOptions): DynamicModule {
    return {
      module: ThrottlingModule,
      imports: [RedisModule, ...(limitStore === undefined ? [] : [limitStore.module])],
      providers: [
        TierThrottlerGuard,
        AdmissionGuard,
        RequestLimiter,
        { provide: RefusedBodies, useExisting: RequestLimiter },
        RequestRates,
        PluginLimits,
        StreamSlots,
        LimitFallback,
        limitStore === undefined
          ? {
              provide: LimitStore,
              inject: [TokensUsed, LimitFallback, REDIS],
              useFactory: defaultStore,
            }
          : { provide: LimitStore, useExisting: limitStore.token },
      ],
      exports: [
        TierThrottlerGuard,
        AdmissionGuard,
        RequestLimiter,
        RefusedBodies,
        RequestRates,
        LimitStore,
        LimitFallback,
        StreamSlots,
      ],
    };
  }
}

function defaultStore(tokensUsed: TokensUsed, fallback: LimitFallback, redis?: RedisConnection): LimitStore {
  return redis === undefined
    ? new InProcessLimitStore({ tokensUsed })
    : new RedisLimitStore(redis, tokensUsed, fallback);
}
