import {
  Global,
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

/** A kind of extension that plugins add, such as protocols or usage feeds. */
export class ExtensionPoint<T extends object> {
  declare private readonly extension: T;

  /** @param name the member of the plugin description, such as `protocols`. */
  constructor(readonly name: string) {}
}

/**
 * How a plugin names an extension: an injectable class, or a factory. In both cases Nest creates one object in the module of
 * the plugin, injects what it needs, and calls its lifecycle hooks.
 */
export type Extension<T extends object> =
  Type<T> | (Pick<FactoryProvider<T>, 'inject'> & { useFactory(...injected: never[]): T | Promise<T> });

/** An extension that is another provider, too, so that Nest calls its lifecycle hooks only once. */
export class OtherProvider {
  constructor(readonly extension: object) {}
}

/** An extension that replaces a part of the service, and the module that exports it. */
export interface ProvidedExtension {
  readonly module: Type | DynamicModule;
  readonly token: InjectionToken;
}

const LIFECYCLE_HOOKS = new Set<PropertyKey>([
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
]);

/**
 * Returns the object without its lifecycle hooks, for a second injection token: Nest calls the hooks for the first one. Methods run on
 * the object itself, so that its private members work.
 */
export function withoutLifecycleHooks<T extends object>(object: T): T {
  return new Proxy(object, {
    get: (target, name) => {
      if (LIFECYCLE_HOOKS.has(name)) return undefined;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    has: (target, name) => !LIFECYCLE_HOOKS.has(name) && Reflect.has(target, name),
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

/** What the plugins add, in the order of the plugins. */
export interface ExtensionSet {
  /** The injection tokens of the extensions that Nest creates. */
  readonly tokens: ReadonlyMap<ExtensionPoint<object>, readonly InjectionToken[]>;
  /** The extensions that are plain values. */
  readonly values: ReadonlyMap<ExtensionPoint<object>, readonly object[]>;
}

const EXTENSION_SET = Symbol('EXTENSION_SET');

/** A service without plugins. */
const NO_EXTENSIONS: ExtensionSet = { tokens: new Map(), values: new Map() };

/**
 * Finds the extensions of the plugins. They are looked up and not injected, so that an extension can use every service,
 * including the service that uses the extension.
 */
@Injectable()
export class Extensions {
  constructor(
    private readonly modules: ModuleRef,
    @Inject(EXTENSION_SET) private readonly set: ExtensionSet,
  ) {}

  /**
   * Returns the extensions of this kind that Nest creates. Call this in `onModuleInit` or later, when Nest has created all
   * objects.
   */
  of<T extends object>(point: ExtensionPoint<T>): readonly T[] {
    return (this.set.tokens.get(point) ?? []).map((token) => {
      const created = this.modules.get<T | OtherProvider>(token, { strict: false });
      return created instanceof OtherProvider ? (created.extension as T) : created;
    });
  }

  /** Returns the extensions of this kind that are plain values. */
  values<T extends object>(point: ExtensionPoint<T>): readonly T[] {
    return (this.set.values.get(point) ?? []) as readonly T[];
  }
}

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
