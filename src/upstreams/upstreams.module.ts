import { Global, Module } from '@nestjs/common';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisModule } from '../redis/redis.module.js';
import { REDIS } from '../redis/redis.js';
import { ModelRouter } from './model-router.js';
import { ProtocolRegistry } from './protocols/protocol-registry.js';
import { RedisRests } from './routing/redis-rests.js';
import { RouteStates } from './routing/route-states.js';
import { UpstreamConnections } from './transport/upstream-connections.js';

/** Provides the connections to providers and the routing of completions. */
@Global()
@Module({
  imports: [RedisModule],
  providers: [
    {
      provide: RedisRests,
      inject: [REDIS],
      useFactory: (redis: RedisConnection | undefined) => redis && new RedisRests(redis),
    },
    ProtocolRegistry,
    UpstreamConnections,
    RouteStates,
    ModelRouter,
  ],
  exports: [ModelRouter, ProtocolRegistry, RouteStates],
})
export class UpstreamsModule {}
