import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config, type UpstreamConfig } from '../../config/config.js';
import { ConfigError } from '../../config/config-error.js';
import type { OptionsIssue } from '../contract/options-schema.js';
import type { Protocol } from '../contract/protocol.js';

/** Injection token of all protocols: the built-in protocols and the protocols that a team registers. */
export const REGISTERED_PROTOCOLS = Symbol('REGISTERED_PROTOCOLS');

/** An upstream with its protocol. The options of the upstream are checked. */
export interface ConnectedUpstream {
  readonly protocol: Protocol;
  readonly upstream: UpstreamConfig;
}

/**
 * Finds the protocol of an upstream. Checks at start-up that each configured protocol exists, and that the options of each
 * upstream fit its protocol.
 *
 * @throws {ConfigError} in the constructor, with every problem at once.
 */
@Injectable()
export class ProtocolRegistry {
  private readonly byUpstream = new Map<string, ConnectedUpstream>();

  constructor(@Inject(REGISTERED_PROTOCOLS) protocols: readonly Protocol[], @Inject(CONFIG) config: Config) {
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
      const { options, issues } = checkedOptions(protocol, upstream.options);
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

interface CheckedOptions {
  readonly options: unknown;
  /** Each with the path inside the options, such as `.keep_alive: must be a string`. */
  readonly issues: readonly string[];
}

function checkedOptions({ name, options: schema }: Protocol, given: unknown): CheckedOptions {
  if (schema === undefined) {
    return { options: given, issues: given === undefined ? [] : [`: the protocol ${name} has no options`] };
  }
  const result = schema['~standard'].validate(given ?? {});
  if (result instanceof Promise) throw new Error(`The options schema of the protocol ${name} must be synchronous.`);
  if (result.issues !== undefined) return { options: given, issues: result.issues.map(shown) };
  return { options: result.value, issues: [] };
}

function shown({ path = [], message }: OptionsIssue): string {
  const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return `${names.map((name) => `.${name}`).join('')}: ${message}`;
}
