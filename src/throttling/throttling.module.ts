import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { ProvidedExtension } from '../common/extensions/extension-point.js';
import { REDIS } from '../redis/redis.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisModule } from '../redis/redis.module.js';
import { RequestBudgets } from './budgets/request-budgets.js';
import { InProcessLimitStore } from './in-process/in-process-limit-store.js';
import { LimitFallback } from './limit-fallback.js';
import { LimitStore } from './limit-store.js';
import { StreamSlots } from './process-load/stream-slots.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import { AdmissionGuard } from './admission.guard.js';
import { PluginLimits } from './plugin-limits.js';
import { RequestLimiter } from './request-limiter.js';
import { RefusedBodies } from '../http/body/refused-bodies.js';
import { TierThrottlerGuard } from './tier-throttler.guard.js';
import { TokensUsed } from './tokens/tokens-used.js';

export interface ThrottlingOptions {
  /** Counts the use of limits. By default, the store counts in Redis if REDIS_URL is set, otherwise in this process. */
  readonly limitStore?: ProvidedExtension | undefined;
  /** Provides {@link TokensUsed}: the tokens that were used before a counter began. */
  readonly tokensUsed: ProvidedExtension;
}

/** Limits each account to what its tier allows. */
@Global()
@Module({})
export class ThrottlingModule {
  static register({ limitStore, tokensUsed }: ThrottlingOptions): DynamicModule {
    return {
      module: ThrottlingModule,
      imports: [RedisModule, tokensUsed.module, ...(limitStore === undefined ? [] : [limitStore.module])],
      providers: [
        TierThrottlerGuard,
        AdmissionGuard,
        RequestLimiter,
        { provide: RefusedBodies, useExisting: RequestLimiter },
        RequestBudgets,
        PluginLimits,
        StreamSlots,
        LimitFallback,
        { provide: TokensUsed, useExisting: tokensUsed.token },
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
        RequestBudgets,
        LimitStore,
        LimitFallback,
        StreamSlots,
        TokensUsed,
      ],
    };
  }
}

function defaultStore(tokensUsed: TokensUsed, fallback: LimitFallback, redis?: RedisConnection): LimitStore {
  return redis === undefined
    ? new InProcessLimitStore({ tokensUsed })
    : new RedisLimitStore(redis, tokensUsed, fallback);
}
