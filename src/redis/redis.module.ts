import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { REDIS } from './redis.js';
import type { RedisConnection } from './redis-connection.js';
import { RedisHealth } from './redis-health.js';

/** What replicas share, where REDIS_URL is set. */
@Module({
  providers: [
    {
      provide: REDIS,
      inject: [CONFIG],
      useFactory: ({ redisUrl }: Config) => redisUrl && connectTo(redisUrl),
    },
    RedisHealth,
  ],
  exports: [REDIS, RedisHealth],
})
export class RedisModule {}

/** The client is a quarter of all modules of the process: without Redis it is not even loaded. */
async function connectTo(url: string): Promise<RedisConnection> {
  const { RedisConnection } = await import('./redis-connection.js');
  return new RedisConnection(url);
}
