import { Global } from '@nestjs/common';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { ChatModule } from '../../plugin-api/core/chat.js';
import { CONFIG, type Config } from '../../plugin-api/core/config.js';
import { REDIS, type RedisConnection, RedisModule } from '../../plugin-api/core/redis.js';
import { RepeatedRequests } from '../../plugin-api/core/throttling.js';
import { DurableStreamCounts } from '../../plugin-api/durable-stream-counts.js';
import { DurableStreams } from './durable-streams.js';
import { DurableStreamsController } from './durable-streams.controller.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { StreamMemory } from './log/stream-memory.js';
import { ReplayRate } from './replay-rate.js';
import { MemoryStreamStore } from './store/memory-stream-store.js';
import { StreamStore } from './store/stream-store.js';

/**
 * Durable streams: a request with an `Idempotency-Key` gets a stream that outlives its connection. Redis keeps the streams if
 * REDIS_URL is set, otherwise the memory of this process.
 */
@Global()
@ChatPlugin({
  name: 'durable',
  compatibility: '^1',
  imports: [ChatModule, RedisModule],
  controllers: [DurableStreamsController],
  providers: [
    StreamMemory,
    ReplayRate,
    DurableStreams,
    { provide: StreamStore, inject: [StreamMemory, CONFIG, REDIS], useFactory: storeOf },
    { provide: RepeatedRequests, useClass: IdempotencyKeys },
    { provide: DurableStreamCounts, useExisting: DurableStreams },
  ],
  exports: [RepeatedRequests, DurableStreamCounts],
})
export class DurablePlugin {}

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
