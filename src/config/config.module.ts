import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from './config.js';
import { loadConfig } from './load-config.js';

/** Gives every module the one {@link Config}. */
@Global()
@Module({})
export class ConfigModule {
  /** @param config what to serve with; by default what the environment says. */
  static forRoot(config: Config = loadConfig()): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: CONFIG, useValue: config }], exports: [CONFIG] };
  }
}
