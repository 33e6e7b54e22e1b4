import { Inject, Injectable, type InjectionToken, Global, Module, type DynamicModule } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { OtherProvider, type ExtensionPoint } from './extension-point.js';

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
