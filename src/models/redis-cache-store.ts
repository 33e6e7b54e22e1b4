import KeyvRedis from '@keyv/redis';
import type { RedisConnection } from '../redis/redis-connection.js';

/**
 * A cache that uses the Redis connection of the whole process. While Redis is unavailable, the cache finds nothing and does
 * not wait.
 */
export class RedisCacheStore extends KeyvRedis<unknown> {
  constructor(private readonly redis: RedisConnection) {
    super(redis.client, { namespace: 'chat:cache' });
  }

  override async get<U>(key: string): Promise<U | undefined> {
    return this.redis.run(() => super.get<U>(key)).catch(() => undefined);
  }

  override async set(key: string, value: string, ttl?: number): Promise<void> {
    await this.redis.run(() => super.set(key, value, ttl)).catch(() => undefined);
  }

  /** Does nothing, because the cache does not own the connection. */
  override async disconnect(): Promise<void> {
    await Promise.resolve();
  }
}
