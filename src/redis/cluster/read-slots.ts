import { within } from '../../common/timers/within.js';
import type { HostAndPort } from '../../config/sources/redis-url.js';
import { askOnce, type RedisClient, type ServerAddress } from '../redis-client.js';
import type { SlotRange } from './slot-map.js';

const PATIENCE_MS = 1_000;

type Reply = [first: number, last: number, master: [host: string | null, port: number, ...rest: unknown[]]][];

/**
 * Asks a server which master serves which slots.
 *
 * @param at the address of the server. A server that does not know its own address means this one.
 */
export async function readSlots(client: RedisClient, at: HostAndPort): Promise<SlotRange[]> {
  const asked = client.sendCommand<Reply>(['CLUSTER', 'SLOTS']);
  const reply = await within(asked, PATIENCE_MS, () => new Error('no answer'));
  if (reply.length === 0) throw new Error('the cluster has no slots yet');
  return reply.map(([first, last, [host, port]]) => ({
    first,
    last,
    master: { host: host === null || host === '' ? at.host : host, port: port === 0 ? at.port : port },
  }));
}

/** The same, on a connection of its own. */
export async function readSlotsAt(server: Extract<ServerAddress, { at: HostAndPort }>): Promise<SlotRange[]> {
  return askOnce(server, 2 * PATIENCE_MS, (client) => readSlots(client, server.at));
}
