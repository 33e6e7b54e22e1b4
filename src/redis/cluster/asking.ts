import type { RedisClient } from '../redis-client.js';

/** Returns the client with `ASKING` before each command. A server needs this for keys of a slot that moves to it. */
export function asking(client: RedisClient): RedisClient {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        // Both commands are put in the queue of the connection at once, so no other command comes between them.
        target.sendCommand(['ASKING']).catch(() => undefined);
        return Reflect.apply(member, target, args);
      };
    },
  });
}
