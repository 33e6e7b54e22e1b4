import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config, type UpstreamConfig } from '../../config/config.js';
import { ConfigError } from '../../config/config-error.js';
import type { Protocol } from '../contract/protocol.js';

/** Injection token of all protocols: the built-in protocols and the protocols that a team registers. */
export const REGISTERED_PROTOCOLS = Symbol('REGISTERED_PROTOCOLS');

/**
 * Finds the protocol of an upstream. Checks at start-up that each configured protocol exists.
 *
 * @throws {ConfigError} in the constructor, for an unknown protocol, and for an HTTP upstream without a base URL.
 */
@Injectable()
export class ProtocolRegistry {
  private readonly byName: ReadonlyMap<string, Protocol>;

  constructor(@Inject(REGISTERED_PROTOCOLS) protocols: readonly Protocol[], @Inject(CONFIG) config: Config) {
    this.byName = new Map(protocols.map((protocol) => [protocol.name, protocol]));
    const problems = [...config.upstreams.values()].flatMap((upstream) => {
      const protocol = this.byName.get(upstream.protocol);
      if (protocol === undefined) {
        return [`upstreams.${upstream.name}.protocol: is not one of ${[...this.byName.keys()].join(', ')}`];
      }
      return protocol.transport === 'http' && upstream.baseUrl === undefined
        ? [`upstreams.${upstream.name}.base_url: is missing`]
        : [];
    });
    if (problems.length > 0) throw new ConfigError(problems);
  }

  of(upstream: UpstreamConfig): Protocol {
    const protocol = this.byName.get(upstream.protocol);
    if (protocol === undefined) throw new Error(`The protocol ${upstream.protocol} was not checked at start-up.`);
    return protocol;
  }
}
