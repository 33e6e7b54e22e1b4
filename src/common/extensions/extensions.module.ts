import { Global, Module, type DynamicModule } from '@nestjs/common';
import { EXTENSION_SET, Extensions, NO_EXTENSIONS, type ExtensionSet } from './extensions.js';

/** Provides the extensions of the plugins to the modules that use them. */
@Global()
@Module({})
export class ExtensionsModule {
  static register(set: ExtensionSet = NO_EXTENSIONS): DynamicModule {
    return {
      module: ExtensionsModule,
      providers: [Extensions, { provide: EXTENSION_SET, useValue: set }],
      exports: [Extensions],
    };
  }
}
