import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from './config.js';
import { heapLimitBytes, MOST_BODY_BYTES } from './limits/memory-limit.js';
import { loadConfig } from './load-config.js';

/** A parsed body can take twice the bytes that arrived, and what is made of it for a vendor as much again. */
const SHARE_OF_BODIES = 0.25;

/** Gives every module the one {@link Config}, and what follows from the memory of the process. */
@Global()
@Module({})
export class ConfigModule {
  /** @param config what to serve with; by default what the environment says. */
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
