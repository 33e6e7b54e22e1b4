import type { Type } from '@nestjs/common';
import type { StrategyType } from '../../src/auth/strategies/all-strategies.js';
import type { CompletionHook } from '../../src/chat/hooks/completion-hook.js';
import type { ExtensionPoint, Extensions } from '../../src/platform/common/extensions/extensions.js';
import { ChatPlugin } from '../../src/plugin-api/chat-plugin.decorator.js';
import type { PluginDescription } from '../../src/plugin-api/plugin-description.js';
import type { LimitStore } from '../../src/throttling/limit-store.js';
import type { Protocol } from '../../src/upstreams/contract/protocol.js';

/** Objects of a test as extensions of the service. */
export interface TestExtensions {
  readonly protocols?: readonly Protocol[];
  readonly strategies?: readonly StrategyType[];
  readonly completionHooks?: readonly CompletionHook[];
  readonly limitStore?: LimitStore;
}

/** Returns a plugin with these objects. */
export function pluginWith(extensions: TestExtensions): Type {
  const { protocols, strategies = [], completionHooks, limitStore } = extensions;
  const one = <T extends object>(object: T | undefined) => object && { useFactory: () => object };
  const all = <T extends object>(objects: readonly T[] = []) => objects.map((object) => ({ useFactory: () => object }));
  const description: PluginDescription = {
    name: 'of-the-test',
    compatibility: '^1',
    strategies,
    protocols: all(protocols),
    completionHooks: all(completionHooks),
    ...(limitStore && { limitStore: one(limitStore) }),
  } as PluginDescription;
  @ChatPlugin(description)
  class PluginOfTheTest {}
  return PluginOfTheTest;
}

/** Extensions without a container of Nest. */
export function extensionsOf<T extends object>(point?: ExtensionPoint<T>, objects: readonly T[] = []): Extensions {
  const of = (asked: unknown) => (asked === point ? objects : []);
  return { of, values: of } as unknown as Extensions;
}
