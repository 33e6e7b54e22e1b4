import { Global, Module } from '@nestjs/common';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisModule } from '../redis/redis.module.js';
import { REDIS } from '../redis/redis.js';
import { ProtocolRegistry } from './protocols/protocol-registry.js';
import { AttemptFactory } from './routing/attempt-factory.js';
import { ModelRouter } from './routing/model-router.js';
import { RedisCooldowns } from './routing/redis-cooldowns.js';
import { RouteStates } from './routing/route-states.js';
import { UpstreamConnections } from './transport/upstream-connections.js';

/** Provides the connections to providers and the routing of completions. */
@Global()
@Module({
  imports: [RedisModule],
  providers: [
    {
      provide: RedisCooldowns,
      inject: [REDIS],
      useFactory: (redis: RedisConnection | undefined) => redis && new RedisCooldowns(redis),
    },
    ProtocolRegistry,
    UpstreamConnections,
    RouteStates,
    AttemptFactory,
    ModelRouter,
  ],
  exports: [AttemptFactory, ModelRouter, ProtocolRegistry, RouteStates],
})
export class UpstreamsModule {}
