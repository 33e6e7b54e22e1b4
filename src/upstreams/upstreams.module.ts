import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisModule } from '../redis/redis.module.js';
import { REDIS } from '../redis/redis.js';
import type { Protocol } from './contract/protocol.js';
import { ModelRouter } from './model-router.js';
import { PROTOCOLS } from './protocols/all-protocols.js';
import { ProtocolRegistry, REGISTERED_PROTOCOLS } from './protocols/protocol-registry.js';
import { RedisRests } from './routing/redis-rests.js';
import { RouteStates } from './routing/route-states.js';
import { UpstreamConnections } from './transport/upstream-connections.js';

export interface UpstreamsOptions {
  /** Additional protocols of a team. A protocol with the same name as a protocol of the service replaces it. */
  readonly protocols?: readonly Protocol[];
}

/** Provides the connections to providers and the routing of completions. */
@Global()
@Module({})
export class UpstreamsModule {
  static register({ protocols = [] }: UpstreamsOptions = {}): DynamicModule {
    return {
      module: UpstreamsModule,
      imports: [RedisModule],
      providers: [
        { provide: REGISTERED_PROTOCOLS, useValue: [...PROTOCOLS, ...protocols] },
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
      exports: [ModelRouter, RouteStates],
    };
  }
}
