import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { MEMBERSHIP, REDIS, type RedisConnection } from './redis-connection.js';
import { RedisHealth } from './redis-health.js';

/** The connection to Redis, through which replicas share state. There is a connection only when REDIS_URL is set. */
@Module({
  providers: [
    {
      provide: REDIS,
      inject: [CONFIG],
      useFactory: ({ redisUrl }: Config) => redisUrl && connectTo(redisUrl),
    },
    {
      provide: MEMBERSHIP,
      inject: [{ token: REDIS, optional: true }],
      useFactory: async (redis?: RedisConnection) => redis && new (await import('./membership.js')).Membership(redis),
    },
    RedisHealth,
  ],
  exports: [REDIS, MEMBERSHIP, RedisHealth],
})
export class RedisModule {}

/** Loads the client only when Redis is used, because the client makes up a quarter of all modules of the process. */
async function connectTo(url: string): Promise<RedisConnection> {
  return new (await import('./redis-connection.js')).RedisConnection(url);
}
