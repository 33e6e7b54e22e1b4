import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisCredentials, HostAndPort, RedisAddress } from '../config/sources/redis-url.js';

export const CONNECT_TIMEOUT_MS = 2000;
/** How long one Sentinel may take to reply. Then the next one is queried. */
const SENTINEL_TIMEOUT_MS = 1000;
const SLOTS_TIMEOUT_MS = 1000;
const MAX_RECONNECT_DELAY_MS = 1000;
/** A command waits for a slot that moves for about a second, with up to four tries for each delay. */
const SLOT_RETRY_DELAY_MS = 50;
const MAX_REDIRECTIONS = 80;

/** A client of ioredis. `Cluster` has the same commands. */
export type RedisClient = Redis;

type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>;

/**
 * A command that cannot be sent now fails at once, and a lost connection fails all commands that wait for their replies. Nothing is
 * sent twice, because Redis may have done the command already.
 */
const SHARED: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // The check would need the permission for INFO. `ServerHealth` probes with a write instead.
  enableReadyCheck: false,
  disableClientInfo: true,
};

/** Creates the client for one server, or for the master that Sentinel names. The client is not connected yet. */
export function newClient(address: Exclude<RedisAddress, { kind: 'cluster' }>): RedisClient {
  const shared = { ...SHARED, retryStrategy: reconnectDelayMs, db: address.database };
  if (address.kind === 'server') return new Redis({ ...shared, ...serverAt(new URL(address.url)) });
  const { sentinels, sentinelCredentials, master, tls, credentials } = address;
  return new Redis({
    ...shared,
    ...loginOf(credentials),
    sentinels: [...sentinels],
    name: master,
    ...(sentinelCredentials.username !== undefined && { sentinelUsername: sentinelCredentials.username }),
    ...(sentinelCredentials.password !== undefined && { sentinelPassword: sentinelCredentials.password }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    updateSentinels: false,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    sentinelRetryStrategy: reconnectDelayMs,
  });
}

/** Creates the client for a cluster. The client is not connected yet. */
export function newClusterClient({ seeds, tls, credentials }: ClusterAddress): Cluster {
  return new Cluster([...seeds], {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: reconnectDelayMs,
    clusterNodeRetryStrategy: reconnectDelayMs,
    slotsRefreshTimeout: SLOTS_TIMEOUT_MS,
    maxRedirections: MAX_REDIRECTIONS,
    retryDelayOnTryAgain: SLOT_RETRY_DELAY_MS,
    // Such commands fail at once: each replica has its share of the limits until the failover is over.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // A certificate may be valid only for the name, and not for the address.
    dnsLookup: (host, callback) => {
      callback(null, host);
    },
    redisOptions: { ...SHARED, ...loginOf(credentials), ...(tls && { tls: {} }) },
  });
}

function reconnectDelayMs(tries: number): number {
  return Math.min(50 * 2 ** (tries - 1), MAX_RECONNECT_DELAY_MS) * (0.5 + Math.random() / 2);
}

function serverAt({ hostname, port, protocol, username, password }: URL): RedisOptions {
  const host = hostname.replace(/^\[|\]$/g, '');
  const credentials = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  return { ...atAddress(host, port), ...loginOf(credentials), ...(protocol === 'rediss:' && { tls: {} }) };
}

function atAddress(host: string, port: string): Partial<HostAndPort> {
  return { ...(host !== '' && { host }), ...(port !== '' && { port: Number(port) }) };
}

function loginOf({ username, password }: RedisCredentials): RedisOptions {
  return { ...(username && { username }), ...(password && { password }) };
}
