import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { REDIS } from '../../platform/redis/redis.js';
import { RepeatedRequests } from '../../throttling/request-limiter.js';
import { KnownIdempotencyKeys } from './durable-claim.guard.js';
import { StreamMemory } from './log/stream-memory.js';
import { MemoryStreamStore } from './store/memory-stream-store.js';
import { StreamStore } from './store/stream-store.js';

/** Provides the store of durable streams: Redis keeps the streams if REDIS_URL is set, otherwise the memory of this process. */
@Global()
@Module({
  imports: [RedisModule],
  providers: [
    StreamMemory,
    { provide: RepeatedRequests, useClass: KnownIdempotencyKeys },
    { provide: StreamStore, inject: [StreamMemory, CONFIG, REDIS], useFactory: storeOf },
  ],
  exports: [StreamMemory, StreamStore, RepeatedRequests],
})
export class DurableModule {}

/** Loads the store for Redis only when Redis is used, because the client makes up a quarter of all modules of the process. */
async function storeOf(
  memory: StreamMemory,
  { streamRetentionMs }: Config,
  redis?: RedisConnection,
): Promise<StreamStore> {
  if (redis === undefined) return new MemoryStreamStore(memory, streamRetentionMs);
  const { RedisStreamStore } = await import('./store/redis/redis-stream-store.js');
  return new RedisStreamStore(redis, memory, streamRetentionMs);
}
