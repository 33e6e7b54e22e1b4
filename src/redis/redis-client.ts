import { createClient } from '@redis/client';
import { withTimeout } from '../common/timers/with-timeout.js';
import type { Credentials, HostAndPort } from '../config/sources/redis-url.js';

export const CONNECT_TIMEOUT_MS = 2000;
/**
 * The client closes a connection after this time without traffic, for example while the connection is being set up. The
 * time is long, because the client's timer continues while the event loop is blocked. ConnectionIdleTimeout closes a connection in
 * use sooner.
 */
const SET_UP_LIMIT_MS = 15_000;
/** The most commands without a reply. Further commands fail at once with RedisTimeout. */
const MAX_PENDING_COMMANDS = 20_000;

/** Is never connected. The other clients have its class: to create a class with all commands takes milliseconds. */
const template = createClient();

export type RedisClient = ReturnType<typeof newClient>;

/** One server. */
export type ServerAddress =
  | { readonly url: string }
  | {
      readonly at: HostAndPort;
      readonly tls: boolean;
      readonly credentials: Credentials;
      readonly database?: number;
    };

/** Connects to a server. The client does not reconnect: it emits `error` when the connection is lost. */
export async function connectTo(address: ServerAddress): Promise<RedisClient> {
  const client = newClient(address);
  // Without a listener, an error would end the process.
  client.on('error', () => undefined);
  return client.connect();
}

/**
 * Queries a server on a connection of its own, which is closed afterwards, whether there was a reply or not.
 *
 * @throws {Error} if there is no reply `limitMs` after the call.
 */
export async function queryOnce<T>(
  address: ServerAddress,
  limitMs: number,
  query: (client: RedisClient) => Promise<T>,
): Promise<T> {
  const timedOut = (): Error => new Error('no reply');
  const queried = connectTo(address).then(async (client) => {
    try {
      return await withTimeout(query(client), limitMs, timedOut);
    } finally {
      client.destroy();
    }
  });
  return withTimeout(queried, limitMs, timedOut);
}

export function addressText({ host, port }: HostAndPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function newClient(address: ServerAddress) {
  return template.duplicate({
    ...('url' in address ? { url: address.url } : loginOf(address)),
    // A command that cannot be sent now fails at once.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    socket: {
      ...('at' in address && { ...address.at, ...(address.tls && { tls: true }) }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SET_UP_LIMIT_MS,
      reconnectStrategy: false,
    },
  });
}

function loginOf({ credentials, database = 0 }: Exclude<ServerAddress, { url: string }>) {
  const { username, password } = credentials;
  return { database, ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
}
