import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/config.js';
import { StreamMemory } from './log/stream-memory.js';
import { MemoryStreamStore } from './store/memory-stream-store.js';
import { StreamStore } from './store/stream-store.js';

export interface DurableOptions {
  /** Keeps durable streams. By default, Redis keeps the streams if REDIS_URL is set, otherwise the memory of this process. */
  readonly streamStore?: StreamStore;
}

/** Provides the store of durable streams. */
@Global()
@Module({})
export class DurableModule {
  static register({ streamStore }: DurableOptions = {}): DynamicModule {
    return {
      module: DurableModule,
      providers: [
        StreamMemory,
        {
          provide: StreamStore,
          inject: [StreamMemory, CONFIG],
          useFactory: (memory: StreamMemory, { streamRetentionMs }: Config) =>
            streamStore ?? new MemoryStreamStore(memory, streamRetentionMs),
        },
      ],
      exports: [StreamMemory, StreamStore],
    };
  }
}
