// Replicas of the gateway on one PostgreSQL and one Redis, which appear as one server. Both stores are theirs alone: a new
// database, which is dropped at the end, and a Redis process.
import { DEFAULT_POSTGRES, startPostgres } from './postgres-server.mjs';
import { startRedis } from './redis-servers.mjs';

/**
 * @param {number} count
 * @param {(variables: Record<string, string>) => Promise<import('./servers.mjs').Server>} startOne starts a replica, with an
 * API key that all replicas accept
 * @returns {Promise<import('./servers.mjs').Server>}
 */
export async function startReplicas(count, startOne) {
  const [postgres, redis] = [await startPostgres(DEFAULT_POSTGRES, false), await startRedis(false)];
  const removeStores = async () => {
    redis.stop();
    await postgres.stop();
  };
  try {
    const stores = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
    const replicas = [];
    for (let number = 0; number < count; number += 1) replicas.push(await startOne(stores));
    return joined(replicas, removeStores, () => ({
      statements: postgres.traffic.commands,
      commands: redis.traffic.commands,
    }));
  } catch (error) {
    await removeStores();
    throw error;
  }
}

function joined(replicas, removeStores, traffic) {
  let next = 0;
  return {
    /** Each connection goes to the next replica. */
    get port() {
      next = (next + 1) % replicas.length;
      return replicas[next].port;
    },
    key: replicas[0].key,
    traffic,
    process: {
      usage: async (probe) => sumOf(await Promise.all(replicas.map((replica) => replica.process.usage(probe)))),
      stop: async () => {
        await Promise.all(replicas.map((replica) => replica.process.stop()));
        await removeStores();
      },
    },
  };
}

/** @param {readonly import('./probe.mjs').Usage[]} usages */
function sumOf(usages) {
  const names = Object.keys(usages[0]);
  return Object.fromEntries(names.map((name) => [name, usages.reduce((sum, usage) => sum + usage[name], 0)]));
}
