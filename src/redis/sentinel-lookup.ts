import type { HostAndPort, RedisAddress } from '../config/sources/redis-url.js';
import { addressText, queryOnce, type ServerAddress } from './redis-client.js';
import { reasonOf } from './redis-errors.js';

type SentinelGroup = Extract<RedisAddress, { kind: 'sentinel' }>;

/** How long one Sentinel may take to reply. Then the next one is queried. */
const QUERY_TIMEOUT_MS = 1_000;

/**
 * Queries one Sentinel after the other for the current master. Call this for each new connection: Sentinel closes the
 * connections to the old master after a failover.
 *
 * `createSentinel` of @redis/client builds the class of its clients again for each connection, which costs ten times the CPU
 * of this file during an outage (test: "connections share a class, so that a try to connect during an outage costs little"). It
 * also prints errors to the standard output, and commands wait instead of failing at once.
 *
 * @throws {Error} if no Sentinel knows the master.
 */
export async function findMaster(group: SentinelGroup): Promise<ServerAddress> {
  const failures: string[] = [];
  for (const sentinel of group.sentinels) {
    try {
      const at = await masterOf(group, sentinel);
      if (at !== undefined) return { at, tls: group.tls, credentials: group.credentials, database: group.database };
      failures.push(`${addressText(sentinel)}: unknown`);
    } catch (error) {
      failures.push(`${addressText(sentinel)}: ${reasonOf(error)}`);
    }
  }
  throw new Error(`no Sentinel knows the master ${group.master} (${failures.join('; ')})`);
}

/** Returns the address of the master, or `undefined` if the Sentinel does not know the master. */
async function masterOf(group: SentinelGroup, at: HostAndPort): Promise<HostAndPort | undefined> {
  const { master, tls, sentinelCredentials: credentials } = group;
  const found = await queryOnce({ at, tls, credentials }, QUERY_TIMEOUT_MS, (client) =>
    client.sendCommand<[string, string] | null>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master]),
  );
  return found === null ? undefined : { host: found[0], port: Number(found[1]) };
}
