import { withTimeout } from '../../common/timers/with-timeout.js';
import type { HostAndPort } from '../../config/sources/redis-url.js';
import { queryOnce, type RedisClient, type ServerAddress } from '../redis-client.js';
import type { SlotRange } from './slot-map.js';

const QUERY_TIMEOUT_MS = 1_000;

/**
 * Reads from a server which master serves which slots.
 *
 * @param at the address of the server. A server that does not know its own address means this one.
 */
export async function readSlots(client: RedisClient, at: HostAndPort): Promise<SlotRange[]> {
  const ranges = await withTimeout(client.clusterSlots(), QUERY_TIMEOUT_MS, () => new Error('no reply'));
  if (ranges.length === 0) throw new Error('the cluster has no slots yet');
  return ranges.map(({ from, to, master }) => ({
    first: from,
    last: to,
    // The server may not know its own host, and replies with null or an empty text.
    master: { host: master.host || at.host, port: master.port || at.port },
  }));
}

/** The same, on a connection of its own. */
export async function readSlotsAt(server: Extract<ServerAddress, { at: HostAndPort }>): Promise<SlotRange[]> {
  return queryOnce(server, 2 * QUERY_TIMEOUT_MS, (client) => readSlots(client, server.at));
}
