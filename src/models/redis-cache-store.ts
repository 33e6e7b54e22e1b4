import { EventEmitter } from 'node:events';
import type { KeyvStoreAdapter } from 'keyv';
import type { RedisConnection } from '../redis/redis-connection.js';

const PREFIX = 'chat:cache::';

/** A cache in Redis. While Redis is unavailable, the cache finds nothing and does not wait. */
export class RedisCacheStore extends EventEmitter implements KeyvStoreAdapter {
  readonly opts = {};

  constructor(private readonly redis: RedisConnection) {
    super();
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    const kept = this.redis.run(PREFIX + key, (client) => client.get(PREFIX + key));
    return ((await kept.catch(() => undefined)) ?? undefined) as Value | undefined;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    const options = ttlMs === undefined ? {} : { expiration: { type: 'PX', value: ttlMs } as const };
    await this.redis.run(PREFIX + key, (client) => client.set(PREFIX + key, value, options)).catch(() => undefined);
  }

  async delete(key: string): Promise<boolean> {
    const deleted = this.redis.run(PREFIX + key, (client) => client.del(PREFIX + key));
    return (await deleted.catch(() => 0)) > 0;
  }

  /** Does nothing: all entries expire, and the cache is shared with the other replicas. */
  async clear(): Promise<void> {
    await Promise.resolve();
  }
}
