import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CircuitBreakers } from './circuit-breakers.js';
import { ModelRouter } from './model-router.js';
import type { Protocol } from './protocol.js';
import { ProtocolRegistry, REGISTERED_PROTOCOLS } from './protocol-registry.js';
import { PROTOCOLS } from './protocols.js';
import { UpstreamConnections } from './upstream-connections.js';

export interface UpstreamsOptions {
  /** Protocols of a team's own, beside {@link PROTOCOLS}; one of the same name takes the place of ours. */
  readonly protocols?: readonly Protocol[];
}

/** The connections to vendors and the way a completion takes through them. */
@Global()
@Module({})
export class UpstreamsModule {
  static register({ protocols = [] }: UpstreamsOptions = {}): DynamicModule {
    return {
      module: UpstreamsModule,
      providers: [
        { provide: REGISTERED_PROTOCOLS, useValue: [...PROTOCOLS, ...protocols] },
        ProtocolRegistry,
        UpstreamConnections,
        CircuitBreakers,
        ModelRouter,
      ],
      exports: [ModelRouter, CircuitBreakers],
    };
  }
}
