import { Global, Module, type DynamicModule } from '@nestjs/common';
import { EXTENSION_TOKENS, Extensions, type ExtensionTokens } from './extensions.js';

/** Provides the extensions of the plugins to the modules that use them. */
@Global()
@Module({})
export class ExtensionsModule {
  static register(tokens: ExtensionTokens = new Map()): DynamicModule {
    return {
      module: ExtensionsModule,
      providers: [Extensions, { provide: EXTENSION_TOKENS, useValue: tokens }],
      exports: [Extensions],
    };
  }
}
