import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config, type UpstreamConfig } from '../../platform/config/config.js';
import { ConfigError } from '../../platform/config/config-error.js';
import { ExtensionPoint, Extensions } from '../../platform/common/extensions/extensions.js';
import { checkedOptions } from '../contract/options-schema.js';
import type { Protocol } from '../contract/protocol.js';
import type { UpstreamCredentials } from '../credentials/upstream-credentials.js';
import { CredentialSources } from '../credentials/credential-sources.js';
import { AnthropicProtocol } from './anthropic/anthropic.js';
import { BedrockProtocol } from './bedrock/bedrock.js';
import { BuiltinProtocol } from './builtin/builtin.js';
import { GeminiProtocol } from './gemini/gemini.js';
import { OllamaProtocol } from './ollama/ollama.js';
import { OpenAiResponsesProtocol } from './openai-responses/openai-responses.js';
import { OpenAiProtocol } from './openai/openai.js';

/** The protocols of the service. To add a protocol, add one file, and one entry to this list. */
export const PROTOCOLS: readonly Protocol[] = [
  new OpenAiProtocol(),
  new OpenAiResponsesProtocol(),
  new AnthropicProtocol(),
  new GeminiProtocol(),
  new BedrockProtocol(),
  new OllamaProtocol(),
  new BuiltinProtocol(),
];

/** The protocols of plugins. One with the name of a built-in protocol replaces it. */
export const PLUGIN_PROTOCOLS = new ExtensionPoint<Protocol>('protocols');

/** An upstream with its protocol. The options of the upstream are checked. */
export interface ConnectedUpstream {
  readonly protocol: Protocol;
  readonly upstream: UpstreamConfig;
  /** The credentials of an upstream that has `credentials` in CONFIG_FILE. */
  readonly credentials?: UpstreamCredentials | undefined;
}

/**
 * Finds the protocol of an upstream. Checks at start-up that each configured protocol exists, and that the options of each
 * upstream fit its protocol.
 */
@Injectable()
export class ProtocolRegistry implements OnModuleInit {
  /** By the upstream itself: streams that run may still use an upstream of an earlier configuration with the same name. */
  private readonly byUpstream = new WeakMap<object, ConnectedUpstream>();
  /** The upstreams of the latest configuration. */
  private byName: ReadonlyMap<string, ConnectedUpstream> = new Map();

  constructor(
    private readonly extensions: Extensions,
    @Inject(CONFIG) private readonly config: Config,
    private readonly credentials: CredentialSources,
  ) {}

  /** @throws {ConfigError} with every problem at once. */
  onModuleInit(): void {
    this.connect(this.config);
  }

  /**
   * Connects the upstreams of a configuration. The upstreams of earlier configurations stay connected.
   *
   * @throws {ConfigError} with every problem at once.
   */
  connect(config: Config): void {
    const protocols = [...PROTOCOLS, ...this.extensions.of(PLUGIN_PROTOCOLS)];
    const known = new Map(protocols.map((protocol) => [protocol.name, protocol]));
    const byName = new Map<string, ConnectedUpstream>();
    const problems: string[] = [];
    for (const upstream of config.upstreams.values()) {
      const path = `${config.catalogName}.upstreams.${upstream.name}`;
      const protocol = known.get(upstream.protocol);
      if (protocol === undefined) {
        problems.push(`${path}.protocol: is not one of ${[...known.keys()].join(', ')}`);
        continue;
      }
      const { options, issues } = checkedOptions(protocol.options, upstream.options, `the protocol ${protocol.name}`);
      problems.push(...issues.map((issue) => `${path}.options${issue}`));
      let { baseUrl } = upstream;
      if (protocol.transport === 'http' && issues.length === 0)
        baseUrl ??= protocol.baseUrl?.({ ...upstream, options });
      if (protocol.transport === 'http' && baseUrl === undefined) problems.push(`${path}.base_url: is missing`);
      const ofCredentials: string[] = [];
      const credentials = this.credentials.of(upstream, ofCredentials);
      if (credentials !== undefined && protocol.transport !== 'http')
        ofCredentials.push(`credentials: the protocol ${protocol.name} sends no requests`);
      problems.push(...ofCredentials.map((problem) => `${path}.${problem}`));
      const connected = { protocol, upstream: { ...upstream, baseUrl, options }, credentials };
      this.byUpstream.set(upstream, connected);
      byName.set(upstream.name, connected);
    }
    if (problems.length > 0) throw new ConfigError(problems);
    this.byName = byName;
  }

  /** Connects an upstream of one request only. It is forgotten with the request. */
  connectOnce(connected: ConnectedUpstream): void {
    this.byUpstream.set(connected.upstream, connected);
  }

  of(upstream: Pick<UpstreamConfig, 'name'>): ConnectedUpstream {
    const connected = this.byUpstream.get(upstream) ?? this.byName.get(upstream.name);
    if (connected === undefined) throw new Error(`The upstream ${upstream.name} was not checked.`);
    return connected;
  }
}
