import { Global, Module, type DynamicModule, type Type } from '@nestjs/common';
import { REDIS } from '../redis/redis.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisModule } from '../redis/redis.module.js';
import { InProcessLimitStore } from './in-process/in-process-limit-store.js';
import { LimitFallback } from './limit-fallback.js';
import { LimitStore } from './limit-store.js';
import { StreamPlaces } from './process-load/stream-places.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import { TierThrottlerGuard } from './tier-throttler.guard.js';
import { NoTokensUsed, TokensUsed } from './tokens/tokens-used.js';

export interface ThrottlingOptions {
  /** Counts the use of limits. By default, the store counts in Redis if REDIS_URL is set, otherwise in this process. */
  readonly limitStore?: LimitStore;
  /** A module that exports {@link TokensUsed}. By default, tokens that were used before a counter began count as 0. */
  readonly tokensUsed?: Type | DynamicModule;
}

/** Limits each account to what its tier allows. */
@Global()
@Module({})
export class ThrottlingModule {
  static register({ limitStore, tokensUsed }: ThrottlingOptions = {}): DynamicModule {
    return {
      module: ThrottlingModule,
      imports: [RedisModule, ...(tokensUsed === undefined ? [] : [tokensUsed])],
      providers: [
        TierThrottlerGuard,
        StreamPlaces,
        LimitFallback,
        ...(tokensUsed === undefined ? [{ provide: TokensUsed, useClass: NoTokensUsed }] : []),
        {
          provide: LimitStore,
          inject: [TokensUsed, LimitFallback, REDIS],
          useFactory: (used: TokensUsed, fallback: LimitFallback, redis: RedisConnection | undefined) =>
            limitStore ?? defaultStore(used, fallback, redis),
        },
      ],
      exports: [TierThrottlerGuard, LimitStore, LimitFallback, StreamPlaces],
    };
  }
}

function defaultStore(tokensUsed: TokensUsed, fallback: LimitFallback, redis: RedisConnection | undefined): LimitStore {
  return redis === undefined
    ? new InProcessLimitStore({ tokensUsed })
    : new RedisLimitStore(redis, tokensUsed, fallback);
}
