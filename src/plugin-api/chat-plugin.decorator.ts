import { Module, type InjectionToken, type ModuleMetadata, type Provider, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { OtherProvider, withoutLifecycleHooks, type Extension } from '../platform/common/extensions/extensions.js';
import { ConfigError } from '../platform/config/config-error.js';
import { REDIS, type RedisConnection } from '../platform/redis/redis-connection.js';
import { CREATED_EXTENSIONS, SINGLE_EXTENSIONS } from './extension-points.js';
import { PLUGIN_CONFIG, PluginConfigs } from './plugin-configs.js';
import { PluginRedis } from './plugin-redis.js';
import type { PluginDescription } from './plugin-description.js';

const PLUGIN = Symbol('PLUGIN');

/** A description, and the injection tokens of what Nest creates for it, by member of the description. */
export interface DescribedPlugin {
  readonly description: PluginDescription;
  readonly tokens: ReadonlyMap<string, readonly InjectionToken[]>;
}

/**
 * Makes a class a plugin: an ordinary Nest module that also names what it adds to the service. Register it with
 * `AppModule.register({ plugins: [...] })`, which checks the description.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * @ChatPlugin({ name: 'acme', compatibility: '^1', protocols: [AcmeProtocol] })
 * export class AcmePlugin {}
 * ```
 */
export function ChatPlugin(description: PluginDescription): ClassDecorator {
  return (plugin) => {
    const { name } = description;
    const providers: Provider[] = [...(description.providers ?? []), redisProvider(name)];
    // Without a schema, Nest refuses a class that injects the configuration, and names the class.
    if (description.config !== undefined) providers.push(configProvider(name));
    const tokens = new Map<string, InjectionToken[]>();
    for (const [member, extensions] of createdBy(description)) {
      const named = extensions.map((extension, index) =>
        providerOf(extension, `${description.name}.${member}.${index}`, isSingle(member)),
      );
      providers.push(...named.filter((provider) => !providers.includes(provider)));
      tokens.set(member, named.map(tokenOf));
    }
    const { imports = [], controllers = [], exports = [], entities = [] } = description;
    if (entities.length > 0) providers.push(tablesCheck(name, entities));
    const metadata: ModuleMetadata = {
      imports: entities.length === 0 ? imports : [...imports, TypeOrmModule.forFeature([...entities])],
      controllers,
      providers,
      exports: [...exports, ...SINGLE_EXTENSIONS.flatMap((member) => [...(tokens.get(member) ?? [])])],
    };
    Module(metadata)(plugin);
    Reflect.defineMetadata(PLUGIN, { description, tokens } satisfies DescribedPlugin, plugin);
  };
}

/** Returns the description of a class with `@ChatPlugin()`. */
export function pluginOf(type: object): DescribedPlugin | undefined {
  return Reflect.getMetadata(PLUGIN, type) as DescribedPlugin | undefined;
}

/** Provides the checked configuration of a plugin within its module. */
export function configProvider(name: string): Provider {
  return { provide: PLUGIN_CONFIG, inject: [PluginConfigs], useFactory: (configs: PluginConfigs) => configs.of(name) };
}

/** Stops the start when an entity has no table. The migrations have run when a plugin can inject the database. */
function tablesCheck(plugin: string, entities: readonly Type<object>[]): Provider {
  const check = async (database: DataSource): Promise<void> => {
    const queryRunner = database.createQueryRunner();
    const problems: string[] = [];
    try {
      for (const entity of entities) {
        const { tablePath } = database.getMetadata(entity);
        if (await queryRunner.hasTable(tablePath)) continue;
        problems.push(
          `The plugin "${plugin}": no migration creates ${tablePath}, the table of the entity ${entity.name}.`,
        );
      }
    } finally {
      await queryRunner.release();
    }
    if (problems.length > 0) throw new ConfigError(problems);
  };
  return { provide: Symbol(`${plugin}.tables`), inject: [DataSource], useFactory: check };
}

function redisProvider(name: string): Provider {
  return {
    provide: PluginRedis,
    inject: [REDIS],
    useFactory: (redis: RedisConnection | undefined) => redis && new PluginRedis(redis, name),
  };
}

/** Each member of the description whose extensions Nest creates. Leaves out what is no extension: a check reports it. */
export function* createdBy(description: PluginDescription): Generator<[string, Extension<object>[]]> {
  for (const member of [...CREATED_EXTENSIONS.keys(), ...SINGLE_EXTENSIONS]) {
    const given = description[member];
    if (given !== undefined) yield [member, [given].flat().filter(isExtension)];
  }
}

export function isExtension(given: unknown): given is Extension<object> {
  return typeof given === 'function' || (typeof given === 'object' && given !== null && 'useFactory' in given);
}

function isSingle(member: string): boolean {
  return (SINGLE_EXTENSIONS as readonly string[]).includes(member);
}

function providerOf(extension: Extension<object>, name: string, single: boolean): Provider {
  if (typeof extension === 'function') return extension;
  const { useFactory, inject = [] } = extension as { useFactory(...injected: unknown[]): unknown; inject?: [] };
  return {
    provide: Symbol(name),
    inject,
    // Nest calls the lifecycle hooks of the results of factories. A provider that the factory was given gets them already.
    useFactory: async (...injected: unknown[]) => {
      const created = (await useFactory(...injected)) as object;
      if (!injected.includes(created)) return created;
      // A part of the service is injected by its class, so it cannot be wrapped.
      return single ? withoutLifecycleHooks(created) : new OtherProvider(created);
    },
  };
}

function tokenOf(provider: Provider): InjectionToken {
  return typeof provider === 'function' ? provider : provider.provide;
}
