import { Inject, Injectable, type InjectionToken } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { ExtensionPoint } from './extension-point.js';

/** The injection tokens of the extensions, by extension point, in their order. */
export type ExtensionTokens = ReadonlyMap<ExtensionPoint<object>, readonly InjectionToken[]>;

export const EXTENSION_TOKENS = Symbol('EXTENSION_TOKENS');

/**
 * Finds the extensions of the plugins. They are looked up and not injected, so that an extension can use every service,
 * including the service that uses the extension.
 */
@Injectable()
export class Extensions {
  constructor(
    private readonly modules: ModuleRef,
    @Inject(EXTENSION_TOKENS) private readonly tokens: ExtensionTokens,
  ) {}

  /**
   * Returns the extensions of this kind, in the order of the plugins. Call this in `onModuleInit` or later, when Nest has
   * created all objects.
   */
  of<T extends object>(point: ExtensionPoint<T>): readonly T[] {
    return (this.tokens.get(point) ?? []).map((token) => this.modules.get<T>(token, { strict: false }));
  }
}
