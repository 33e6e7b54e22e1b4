import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from './config.js';
import { heapLimitBytes, MOST_BODY_BYTES } from './limits/memory-limit.js';
import { loadConfig } from './load-config.js';

/**
 * The share of the heap for request bodies, counted in the bytes that arrived. A parsed body can use twice as many bytes,
 * and the request to the provider that is built from the body can use as many again.
 */
const SHARE_OF_BODIES = 0.25;

/** Provides every module with the {@link Config}, and with the limits that depend on the memory of the process. */
@Global()
@Module({})
export class ConfigModule {
  /** @param config the configuration. By default, it is loaded from the environment. */
  static forRoot(config: Config = loadConfig()): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: MOST_BODY_BYTES, useFactory: () => heapLimitBytes() * SHARE_OF_BODIES },
      ],
      exports: [CONFIG, MOST_BODY_BYTES],
    };
  }
}
