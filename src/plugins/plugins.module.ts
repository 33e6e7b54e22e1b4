import { Global, Module, type DynamicModule } from '@nestjs/common';
import { PLUGIN_SCHEMAS, PluginConfigs, type PluginSchemas } from './plugin-configs.js';

/** Checks the configuration of the plugins, and provides it to them. */
@Global()
@Module({})
export class PluginsModule {
  static register(schemas: PluginSchemas): DynamicModule {
    return {
      module: PluginsModule,
      providers: [PluginConfigs, { provide: PLUGIN_SCHEMAS, useValue: schemas }],
      exports: [PluginConfigs],
    };
  }
}
