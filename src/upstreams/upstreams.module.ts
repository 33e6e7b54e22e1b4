import { Global, Module } from '@nestjs/common';
import { type RedisConnection, REDIS } from '../platform/redis/redis-connection.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { CredentialSources } from './credentials/credential-sources.js';
import { ProtocolRegistry } from './protocols/protocol-registry.js';
import { AttemptFactory } from './routing/attempt-factory.js';
import { ModelRouter } from './routing/model-router.js';
import { RedisCooldowns } from './routing/redis-cooldowns.js';
import { RouteProbe } from './routing/route-probe.js';
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
    CredentialSources,
    ProtocolRegistry,
    UpstreamConnections,
    RouteStates,
    AttemptFactory,
    ModelRouter,
    RouteProbe,
  ],
  exports: [AttemptFactory, ModelRouter, ProtocolRegistry, RouteProbe, RouteStates],
})
export class UpstreamsModule {}
