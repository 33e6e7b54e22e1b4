import { isDeepStrictEqual } from 'node:util';
import { Global, Inject, Injectable, Logger, Module, type DynamicModule } from '@nestjs/common';
import { isObject } from '../platform/common/json/json-values.js';
import { ConfigError } from '../platform/config/config-error.js';
import { ConfigReloads } from '../platform/config/config-reloads.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { checkedOptions, type CheckedOptions, type OptionsSchema } from '../upstreams/contract/options-schema.js';
import type { PluginDescription } from './plugin-description.js';
import type { PluginVariable } from '../platform/config/sources/plugin-variables.js';

/**
 * Injection token: the checked configuration of the plugin whose module injects it. `undefined` without a schema.
 *
 * @since 1.0
 */
export const PLUGIN_CONFIG = Symbol('PLUGIN_CONFIG');

/** Injection token of the schemas of all plugins, by name of the plugin. */
const PLUGIN_SCHEMAS = Symbol('PLUGIN_SCHEMAS');

export type PluginSchemas = ReadonlyMap<string, Pick<PluginDescription, 'config' | 'liveConfig' | 'tier'>>;

/**
 * What CONFIG_FILE has for plugins: the member `plugins`, and the members `plugins` of the tiers. The schemas of the plugins check it,
 * at the start and when the file has changed.
 *
 * @throws {ConfigError} in the constructor, with every problem at once.
 */
@Injectable()
export class PluginConfigs {
  private readonly logger = new Logger('Config');
  private readonly byName: ReadonlyMap<string, unknown>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(PLUGIN_SCHEMAS) private readonly schemas: PluginSchemas,
    reloads: ConfigReloads,
  ) {
    this.byName = this.checked(config);
    reloads.addCheck((next) => {
      const checked = this.checked(next);
      return () => {
        this.use(next, checked);
      };
    });
  }

  of(name: string): unknown {
    return this.byName.get(name);
  }

  /** Returns the checked configurations by name, and replaces the members of plugins in the tiers by the checked ones. */
  private checked(config: Config): ReadonlyMap<string, unknown> {
    const { plugins, pluginVariables, tiers } = config;
    const problems = this.unknown(plugins.keys(), 'CONFIG_FILE.plugins');
    const names = new Set([...this.schemas.keys()].map(variableName));
    for (const { variable, plugin } of pluginVariables) {
      if (!names.has(plugin)) problems.push(`${variable}: there is no plugin of this name`);
    }
    const byName = new Map<string, unknown>();
    for (const [name, { config: schema, liveConfig = false }] of this.schemas) {
      const own = pluginVariables.filter(({ plugin }) => plugin === variableName(name));
      const { options, issues } = checkedWithVariables(schema, plugins.get(name), own, `the plugin ${name}`);
      problems.push(...issues.map((issue) => variableIssue(issue, own) ?? `CONFIG_FILE.plugins.${name}${issue}`));
      if (liveConfig && !isObject(options)) problems.push(`CONFIG_FILE.plugins.${name}: must be an object`);
      byName.set(name, options);
    }
    for (const tier of tiers.values()) {
      const path = `CONFIG_FILE.tiers.${tier.name}.plugins`;
      problems.push(...this.unknown(Object.keys(tier.plugins), path));
      const checked: Record<string, unknown> = {};
      for (const [name, { tier: schema }] of this.schemas) {
        const { options, issues } = checkedOptions(schema, tier.plugins[name], `the plugin ${name}`);
        problems.push(...issues.map((issue) => `${path}.${name}${issue}`));
        if (options !== undefined) checked[name] = options;
      }
      Object.assign(tier, { plugins: checked });
    }
    if (problems.length > 0) throw new ConfigError(problems);
    return byName;
  }

  private unknown(names: Iterable<string>, path: string): string[] {
    return [...names]
      .filter((name) => !this.schemas.has(name))
      .map((name) => `${path}.${name}: there is no plugin of this name`);
  }

  private use({ plugins }: Config, checked: ReadonlyMap<string, unknown>): void {
    for (const [name, { liveConfig = false }] of this.schemas) {
      if (liveConfig) replaceMembers(this.byName.get(name) as object, checked.get(name) as object);
      else if (!isDeepStrictEqual(plugins.get(name), this.config.plugins.get(name)))
        this.logger.warn(`CONFIG_FILE.plugins.${name} has changed, and the plugin uses it after a restart`);
    }
  }
}

/** Gives an object the members of another one, so that everyone who has the object sees them. */
function replaceMembers(object: object, next: object): void {
  for (const name of Reflect.ownKeys(object)) if (!Object.hasOwn(next, name)) Reflect.deleteProperty(object, name);
  Object.assign(object, next);
}

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

/** Returns the name of a plugin as variables have it. */
function variableName(plugin: string): string {
  return plugin.toUpperCase().replaceAll('-', '_');
}

/**
 * Checks the configuration of a plugin with its variables, which replace members of the file. The value of a variable is a text. If the
 * schema does not take the text, it is read as JSON: a number, `true`, a list.
 *
 * @param given the member of the file.
 */
function checkedWithVariables(
  schema: OptionsSchema | undefined,
  given: unknown,
  variables: readonly PluginVariable[],
  owner: string,
): CheckedOptions {
  const asTexts = checkedOptions(schema, withMembers(given, variables), owner);
  if (variables.length === 0 || asTexts.issues.length === 0) return asTexts;
  const isRefused = (one: PluginVariable): boolean => asTexts.issues.some((issue) => isAbout(issue, one));
  const read = variables.map((one) => (isRefused(one) ? { ...one, value: valueOf(one.text) } : one));
  return checkedOptions(schema, withMembers(given, read), owner);
}

/** Returns an issue about a variable, with the name of the variable. `undefined`: the issue is about the file. */
function variableIssue(issue: string, variables: readonly PluginVariable[]): string | undefined {
  const found = variables.find((one) => isAbout(issue, one));
  if (found !== undefined) return `${found.variable}${issue.slice(pathOf(found).length)}`;
  const misspelt = variables.find((one) => isMemberIn(issue, one));
  return misspelt && `${misspelt.variable}${issue.slice(issue.indexOf(':'))}`;
}

/** Whether an issue about an object names a member that the variable sets, such as `: Unrecognized key: "max_answer"`. */
function isMemberIn(issue: string, { path }: PluginVariable): boolean {
  const isIn = (depth: number): boolean => issue.startsWith(`${pathOf({ path: path.slice(0, depth) })}: `);
  return path.some((member, depth) => isIn(depth) && issue.includes(`"${member}"`));
}

function isAbout(issue: string, variable: PluginVariable): boolean {
  const path = pathOf(variable);
  return issue.startsWith(path) && /^[.:]/.test(issue.slice(path.length));
}

const pathOf = ({ path }: Pick<PluginVariable, 'path'>): string => path.map((member) => `.${member}`).join('');

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withMembers(given: unknown, variables: readonly (PluginVariable & { readonly value?: unknown })[]): unknown {
  if (variables.length === 0) return given;
  const options = objectOf(structuredClone(given));
  for (const { path, text, value = text } of variables) {
    let inner = options;
    for (const member of path.slice(0, -1)) inner = inner[member] = objectOf(inner[member]);
    inner[path.at(-1) ?? ''] = value;
  }
  return options;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
