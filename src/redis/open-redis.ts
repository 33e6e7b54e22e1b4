import { readRedisUrl } from '../config/sources/redis-url.js';
import { ClusterConnection } from './cluster/cluster-connection.js';
import type { RedisConnection } from './redis-connection.js';
import { SingleConnection } from './single-connection.js';

/** Creates the connection to the Redis of a valid REDIS_URL. Call `onModuleInit` to connect. */
export function openRedis(url: string): RedisConnection {
  const address = readRedisUrl(url);
  if (typeof address === 'string') throw new Error(`REDIS_URL: ${address}`);
  return address.kind === 'cluster' ? new ClusterConnection(address) : new SingleConnection(address);
}
