import { CacheModule } from '@nestjs/cache-manager';
import { Module } from '@nestjs/common';
import { Keyv, type KeyvOptions } from 'keyv';
import { REDIS } from '../redis/redis.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisModule } from '../redis/redis.module.js';
import { ConfigReload } from './config-reload.js';
import { ModelCatalog } from './model-catalog.js';
import { ModelsController } from './models.controller.js';
import { SourcedModels } from './sourced-models.js';

/** How long a replica may serve a list that it has read from Redis. The replica stores only the list of its own catalog. */
const KEPT_HERE_MS = 5000;
const KEPT_IN_REDIS_MS = 600_000;

/**
 * Keeps values in memory without a conversion to JSON, which would be parsed for each request. Keyv documents
 * `undefined` for this purpose, but its types do not allow it.
 */
const AS_IT_IS = { serialize: undefined, deserialize: undefined } as unknown as KeyvOptions;

/** Provides the configured models and their public list. */
@Module({
  imports: [
    CacheModule.registerAsync<{ stores: Keyv[] }>({
      imports: [RedisModule],
      inject: [REDIS],
      useFactory: async (redis: RedisConnection | undefined) => ({
        stores:
          redis === undefined
            ? [new Keyv(AS_IT_IS)]
            : [new Keyv({ ...AS_IT_IS, ttl: KEPT_HERE_MS }), await sharedCache(redis)],
      }),
    }),
  ],
  controllers: [ModelsController],
  providers: [ModelCatalog, SourcedModels, ConfigReload],
  exports: [ModelCatalog, ConfigReload],
})
export class ModelsModule {}

async function sharedCache(redis: RedisConnection): Promise<Keyv> {
  const { RedisCacheStore } = await import('./redis-cache-store.js');
  return new Keyv({ store: new RedisCacheStore(redis), ttl: KEPT_IN_REDIS_MS, useKeyPrefix: false });
}
