import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CircuitBreakers } from './routing/circuit-breakers.js';
import { ModelRouter } from './model-router.js';
import type { Protocol } from './contract/protocol.js';
import { ProtocolRegistry, REGISTERED_PROTOCOLS } from './protocols/protocol-registry.js';
import { PROTOCOLS } from './protocols/all-protocols.js';
import { UpstreamConnections } from './transport/upstream-connections.js';

export interface UpstreamsOptions {
  /** Additional protocols of a team. A protocol with the same name as one of {@link PROTOCOLS} replaces it. */
  readonly protocols?: readonly Protocol[];
}

/** Provides the connections to providers and the routing of completions. */
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
