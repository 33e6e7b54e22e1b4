import type { HostAndPort } from '../../config/sources/redis-url.js';
import type { RedisClient } from '../redis-client.js';

/** The reply of a server of a cluster that cannot run a command now. */
export type Redirection =
  | { readonly kind: 'moved' | 'ask'; readonly slot: number; readonly to: HostAndPort }
  /** The keys of the command are on two servers, because the slot moves at this moment. */
  | { readonly kind: 'again' };

const REDIRECTION = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;

/** Returns the redirection, or `undefined` for another error. An empty host means the host of the server that has replied. */
export function readRedirection(error: unknown): Redirection | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.message.startsWith('TRYAGAIN')) return { kind: 'again' };
  const [, kind, slot, host = '', port] = REDIRECTION.exec(error.message) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind === 'ASK' ? 'ask' : 'moved', slot: Number(slot), to: { host, port: Number(port) } };
}

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
