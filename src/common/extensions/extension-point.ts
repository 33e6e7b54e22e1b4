import type { DynamicModule, FactoryProvider, InjectionToken, Type } from '@nestjs/common';

/** A kind of extension that plugins add, such as protocols or usage sinks. */
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
