import type { DynamicModule, InjectionToken, Type } from '@nestjs/common';
import type { ExtensionPoint, ExtensionSet, ProvidedExtension } from '../platform/common/extensions/extensions.js';
import { ConfigError } from '../platform/config/config-error.js';
import { BUILT_INS } from '../platform/http/surface/plugins-in-use.js';
import { pluginOf, type DescribedPlugin } from './chat-plugin.decorator.js';
import { CREATED_EXTENSIONS, SINGLE_EXTENSIONS, VALUE_EXTENSIONS } from './extension-points.js';
import { PLUGIN_ASSETS } from './page-extensions.js';
import { pluginProblems, type GivenPlugin } from './plugin-check.js';
import type { PluginSchemas } from './plugin-configs.js';

/** A class with `@ChatPlugin()`, or a dynamic module of such a class. */
export type Plugin = Type | DynamicModule;

interface RegisteredPlugin extends DescribedPlugin {
  readonly module: Plugin;
}

/** The plugins of an application, checked. */
export class PluginSet {
  private readonly plugins: readonly RegisteredPlugin[];
  private readonly builtIns: readonly RegisteredPlugin[];

  /**
   * @param plugins those of the application.
   * @param builtIns those of the service. Plugins of the application may have the same names.
   * @throws {ConfigError} with every problem at once.
   */
  constructor(plugins: readonly Plugin[], builtIns: readonly Plugin[] = []) {
    const described = plugins.map(descriptionOf);
    const problems = pluginProblems(described);
    if (problems.length > 0) throw new ConfigError(problems);
    this.plugins = described.flatMap(registered);
    this.builtIns = builtIns.map(descriptionOf).flatMap(registered);
  }

  get modules(): readonly Plugin[] {
    return this.all.map(({ module }) => module);
  }

  private get all(): readonly RegisteredPlugin[] {
    return [...this.builtIns, ...this.plugins];
  }

  get schemas(): PluginSchemas {
    return new Map(this.plugins.map(({ description }) => [description.name, description]));
  }

  /** What the plugins add, for the modules that use it. */
  get extensions(): ExtensionSet {
    const tokens = new Map<ExtensionPoint<object>, InjectionToken[]>();
    for (const [member, point] of CREATED_EXTENSIONS) {
      tokens.set(
        point,
        this.all.flatMap((plugin) => [...(plugin.tokens.get(member) ?? [])]),
      );
    }
    return { tokens, values: this.values };
  }

  /** The extensions that are plain values. The admin program uses only these. */
  get values(): ExtensionSet['values'] {
    const values = new Map<ExtensionPoint<object>, readonly object[]>();
    for (const [member, point] of VALUE_EXTENSIONS) {
      values.set(
        point,
        this.all.flatMap(({ description }) => (description[member] ?? []) as readonly object[]),
      );
    }
    const assets = this.all.flatMap(({ description: { name, assets = [] } }) =>
      assets.map((file) => ({ name: `${name}/${file.pathname.split('/').at(-1) ?? ''}`, file })),
    );
    values.set(PLUGIN_ASSETS, assets);
    return values.set(
      BUILT_INS,
      this.builtIns.map(({ description }) => description),
    );
  }

  /** The extension that replaces a part of the service, if a plugin has one. */
  single(member: (typeof SINGLE_EXTENSIONS)[number]): ProvidedExtension | undefined {
    for (const { module, tokens } of this.plugins) {
      const token = tokens.get(member)?.[0];
      if (token !== undefined) return { module, token };
    }
    return undefined;
  }

  get descriptions() {
    return this.plugins.map(({ description }) => description);
  }
}

function descriptionOf(module: Plugin): GivenPlugin {
  return { module, plugin: pluginOf('module' in module ? module.module : module) };
}

function registered({ module, plugin }: GivenPlugin): RegisteredPlugin[] {
  return plugin === undefined ? [] : [{ module, ...plugin }];
}
