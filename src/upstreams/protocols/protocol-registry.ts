import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config, type UpstreamConfig } from '../../config/config.js';
import { ConfigError } from '../../config/config-error.js';
import { Extensions } from '../../common/extensions/extensions.js';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import { checkedOptions } from '../contract/options-schema.js';
import type { Protocol } from '../contract/protocol.js';
import { PROTOCOLS } from './all-protocols.js';

/** The protocols of plugins. One with the name of a built-in protocol replaces it. */
export const PLUGIN_PROTOCOLS = new ExtensionPoint<Protocol>('protocols');

/** An upstream with its protocol. The options of the upstream are checked. */
export interface ConnectedUpstream {
  readonly protocol: Protocol;
  readonly upstream: UpstreamConfig;
}

/**
 * Finds the protocol of an upstream. Checks at start-up that each configured protocol exists, and that the options of each
 * upstream fit its protocol.
 */
@Injectable()
export class ProtocolRegistry implements OnModuleInit {
  private readonly byUpstream = new Map<string, ConnectedUpstream>();

  constructor(
    private readonly extensions: Extensions,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** @throws {ConfigError} with every problem at once. */
  onModuleInit(): void {
    const { config } = this;
    const protocols = [...PROTOCOLS, ...this.extensions.of(PLUGIN_PROTOCOLS)];
    const byName = new Map(protocols.map((protocol) => [protocol.name, protocol]));
    const problems: string[] = [];
    for (const upstream of config.upstreams.values()) {
      const path = `${config.catalogName}.upstreams.${upstream.name}`;
      const protocol = byName.get(upstream.protocol);
      if (protocol === undefined) {
        problems.push(`${path}.protocol: is not one of ${[...byName.keys()].join(', ')}`);
        continue;
      }
      if (protocol.transport === 'http' && upstream.baseUrl === undefined)
        problems.push(`${path}.base_url: is missing`);
      const { options, issues } = checkedOptions(protocol.options, upstream.options, `the protocol ${protocol.name}`);
      problems.push(...issues.map((issue) => `${path}.options${issue}`));
      this.byUpstream.set(upstream.name, { protocol, upstream: { ...upstream, options } });
    }
    if (problems.length > 0) throw new ConfigError(problems);
  }

  of({ name }: Pick<UpstreamConfig, 'name'>): ConnectedUpstream {
    const connected = this.byUpstream.get(name);
    if (connected === undefined) throw new Error(`The upstream ${name} was not checked at start-up.`);
    return connected;
  }
}
