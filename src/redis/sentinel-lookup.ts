import type { HostAndPort, RedisAddress } from '../config/sources/redis-url.js';
import { addressText, askOnce, type ServerAddress } from './redis-client.js';
import { reasonOf } from './redis-unavailable.js';

type SentinelGroup = Extract<RedisAddress, { kind: 'sentinel' }>;

/** How long one Sentinel may take to answer. Then the next one is asked. */
const PATIENCE_MS = 1_000;

/**
 * Asks one Sentinel after the other for the current master. Call this for each new connection: Sentinel closes the
 * connections to the old master after a failover.
 *
 * @throws {Error} if no Sentinel knows the master.
 */
export async function findMaster(group: SentinelGroup): Promise<ServerAddress> {
  const failures: string[] = [];
  for (const sentinel of group.sentinels) {
    try {
      const at = await ask(group, sentinel);
      if (at !== undefined) return { at, tls: group.tls, credentials: group.credentials, database: group.database };
      failures.push(`${addressText(sentinel)}: unknown`);
    } catch (error) {
      failures.push(`${addressText(sentinel)}: ${reasonOf(error)}`);
    }
  }
  throw new Error(`no Sentinel knows the master ${group.master} (${failures.join('; ')})`);
}

/** Returns the address of the master, or `undefined` if the Sentinel does not know the master. */
async function ask(group: SentinelGroup, at: HostAndPort): Promise<HostAndPort | undefined> {
  const { master, tls, sentinelCredentials: credentials } = group;
  const found = await askOnce({ at, tls, credentials }, PATIENCE_MS, (client) =>
    client.sendCommand<[string, string] | null>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master]),
  );
  return found === null ? undefined : { host: found[0], port: Number(found[1]) };
}
