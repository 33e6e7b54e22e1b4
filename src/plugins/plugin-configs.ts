import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import { checkedOptions, type OptionsSchema } from '../upstreams/contract/options-schema.js';

/**
 * Injection token: the checked configuration of the plugin whose module injects it. `undefined` without a schema.
 *
 * @since 1.0
 */
export const PLUGIN_CONFIG = Symbol('PLUGIN_CONFIG');

/** Injection token of the schemas of all plugins, by name of the plugin. */
export const PLUGIN_SCHEMAS = Symbol('PLUGIN_SCHEMAS');

export type PluginSchemas = ReadonlyMap<string, OptionsSchema | undefined>;

/**
 * The configuration of the plugins: the member `plugins` of CONFIG_FILE, checked by the schemas of the plugins.
 *
 * @throws {ConfigError} in the constructor, with every problem at once.
 */
@Injectable()
export class PluginConfigs {
  private readonly byName = new Map<string, unknown>();

  constructor(@Inject(CONFIG) config: Config, @Inject(PLUGIN_SCHEMAS) schemas: PluginSchemas) {
    const problems = [...config.plugins.keys()]
      .filter((name) => !schemas.has(name))
      .map((name) => `${config.catalogName}.plugins.${name}: there is no plugin of this name`);
    for (const [name, schema] of schemas) {
      const { options, issues } = checkedOptions(schema, config.plugins.get(name), `the plugin ${name}`);
      problems.push(...issues.map((issue) => `${config.catalogName}.plugins.${name}${issue}`));
      this.byName.set(name, options);
    }
    if (problems.length > 0) throw new ConfigError(problems);
  }

  of(name: string): unknown {
    return this.byName.get(name);
  }
}
