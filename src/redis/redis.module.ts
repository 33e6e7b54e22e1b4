import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { REDIS } from './redis.js';
import { RedisConnection } from './redis-connection.js';
import { RedisHealth } from './redis-health.js';

/** What replicas share, where REDIS_URL is set. */
@Module({
  providers: [
    {
      provide: REDIS,
      inject: [CONFIG],
      useFactory: ({ redisUrl }: Config) => redisUrl && new RedisConnection(redisUrl),
    },
    RedisHealth,
  ],
  exports: [REDIS, RedisHealth],
})
export class RedisModule {}
