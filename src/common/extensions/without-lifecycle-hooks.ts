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
