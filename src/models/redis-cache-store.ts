import KeyvRedis from '@keyv/redis';
import type { RedisConnection } from '../redis/redis-connection.js';

/** A cache on the connection that the whole process shares. While Redis is away nothing is found, and nothing waits. */
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

  /** The connection is not the cache's to close. */
  override async disconnect(): Promise<void> {
    await Promise.resolve();
  }
}
