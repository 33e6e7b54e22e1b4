import {
  Global,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import { ConfigReloads } from './config-reloads.js';
import { CONFIG, type Config } from './config.js';
import { heapLimitBytes, MAX_BODY_BYTES } from './limits/capacity.js';
import { loadConfig } from './load-config.js';

/**
 * The share of the heap for request bodies, counted in the bytes that arrived. A parsed body can use twice as many bytes,
 * and the request to the provider that is built from the body can use as many again.
 */
const SHARE_OF_BODIES = 0.25;

/** Where the configuration comes from, if it is not loaded from the environment at once. */
export interface AsyncConfig extends Pick<ModuleMetadata, 'imports'> {
  /** The tokens of the arguments of `useFactory`, which `imports` provide. */
  readonly inject?: FactoryProvider['inject'];
  /** Returns the configuration, usually by `loadConfig` with variables from another source. */
  useFactory(...injected: never[]): Config | Promise<Config>;
}

/** Provides every module with the {@link Config}, and with the limits that depend on the memory of the process. */
@Global()
@Module({})
export class ConfigModule {
  /** @param config the configuration. By default, it is loaded from the environment. */
  static forRoot(config: Config = loadConfig()): DynamicModule {
    return moduleOf({ provide: CONFIG, useValue: config });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: AsyncConfig): DynamicModule {
    return { ...moduleOf({ provide: CONFIG, inject, useFactory } as FactoryProvider), imports };
  }
}

function moduleOf(config: Provider): DynamicModule {
  return {
    module: ConfigModule,
    providers: [
      config,
      ConfigReloads,
      { provide: MAX_BODY_BYTES, useFactory: () => heapLimitBytes() * SHARE_OF_BODIES },
    ],
    exports: [CONFIG, ConfigReloads, MAX_BODY_BYTES],
  };
}
