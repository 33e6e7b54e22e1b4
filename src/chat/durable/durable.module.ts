import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { ProvidedExtension } from '../../common/extensions/extension-point.js';
import { CONFIG, type Config } from '../../config/config.js';
import type { RedisConnection } from '../../redis/redis-connection.js';
import { RedisModule } from '../../redis/redis.module.js';
import { REDIS } from '../../redis/redis.js';
import { StreamMemory } from './log/stream-memory.js';
import { MemoryStreamStore } from './store/memory-stream-store.js';
import { StreamStore } from './store/stream-store.js';

export interface DurableOptions {
  /** Keeps durable streams. By default, Redis keeps the streams if REDIS_URL is set, otherwise the memory of this process. */
  readonly streamStore?: ProvidedExtension | undefined;
}

/** Provides the store of durable streams. */
@Global()
@Module({})
export class DurableModule {
  static register({ streamStore }: DurableOptions): DynamicModule {
    return {
      module: DurableModule,
      imports: [RedisModule, ...(streamStore === undefined ? [] : [streamStore.module])],
      providers: [
        StreamMemory,
        streamStore === undefined
          ? { provide: StreamStore, inject: [StreamMemory, CONFIG, REDIS], useFactory: defaultStore }
          : { provide: StreamStore, useExisting: streamStore.token },
      ],
      exports: [StreamMemory, StreamStore],
    };
  }
}

/** Loads the store for Redis only when Redis is used, because the client makes up a quarter of all modules of the process. */
async function defaultStore(
  memory: StreamMemory,
  { streamRetentionMs }: Config,
  redis?: RedisConnection,
): Promise<StreamStore> {
  if (redis === undefined) return new MemoryStreamStore(memory, streamRetentionMs);
  const { RedisStreamStore } = await import('./store/redis/redis-stream-store.js');
  return new RedisStreamStore(redis, memory, streamRetentionMs);
}
