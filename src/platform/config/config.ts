import type { Capability, GenerationOption, ThinkingKind } from './capabilities.js';
import type { Budget } from './limits/budget.js';
import type { TierLimits } from './limits/limit-table.js';
import type { PluginVariable } from './sources/plugin-variables.js';
import type { WebhookConfig } from './webhook-of.js';

export type { WebhookConfig };

/** The features of the service that `PLUGINS` can leave out. */
export const BUILT_IN_PLUGINS = [
  ...(['compatible', 'durable', 'dashboard', 'admin', 'single-sign-on', 'webhooks'] as const),
  ...(['audit', 'metrics', 'tracing', 'reports'] as const),
];
export type BuiltInPlugin = (typeof BUILT_IN_PLUGINS)[number];

/**
 * The whole configuration, validated and read-only. It is read once at start-up, from the environment and CONFIG_FILE.
 *
 * @since 1.0
 */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly database: DatabaseConfig;
  readonly redisUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** The number of proxies in front of the service. Their headers about the client's address are trusted. */
  readonly trustedProxies: number;
  readonly shutdownGraceMs: number;
  /** How long a client may read nothing of its stream before the connection is cut, in milliseconds. */
  readonly stalledReaderMs: number;
  /** How long a durable stream is kept after its end, in milliseconds. */
  readonly streamRetentionMs: number;
  /** How long a durable stream is generated without a reader, in milliseconds. */
  readonly streamDetachedMs: number;
  /** The maximum size of the texts of durable streams in the memory of this process. */
  readonly streamMemoryBytes: number;
  /** How long a client may read almost nothing of an answer that is not a stream, in milliseconds. */
  readonly unreadResponseMs: number;
  /** The maximum number of open streams in this process. */
  readonly maxStreams: number;
  /** The maximum number of open client connections in this process. */
  readonly maxConnections: number;
  /** After how many days usage records are deleted. `undefined` means never. */
  readonly usageRetentionDays?: number | undefined;
  /** After how many days entries of the audit log are deleted. `undefined` means never. */
  readonly auditRetentionDays?: number | undefined;
  readonly metricsPort: number | undefined;
  /** `undefined` means no traces. */
  readonly tracing?: TracingConfig | undefined;
  /** Whether strangers can create an account with a password. */
  readonly signUp: 'open' | 'closed';
  /** `off`: people sign in by single sign-on only. */
  readonly passwords: 'on' | 'off';
  /** `undefined` means that people sign in with passwords only. */
  readonly singleSignOn?: SingleSignOnConfig | undefined;
  /** The origin under which browsers reach the service, such as `https://chat.example.com`. `undefined`: that of each request. */
  readonly publicUrl?: string | undefined;
  /** Whether `/api/docs` and the OpenAPI document are served. */
  readonly apiDocs: 'open' | 'closed';
  /** The plugins of the service itself that are in use. */
  readonly builtInPlugins: ReadonlySet<BuiltInPlugin>;
  /** The compatible interfaces that are served. */
  readonly compatibleApis: readonly ('chat-completions' | 'responses' | 'messages')[];
  /** The origins whose pages may call the API from a browser. */
  readonly corsOrigins: readonly string[];
  /** The name of the file with the upstreams, models and tiers, as error messages show it. */
  readonly catalogName: string;
  /** The path of CONFIG_FILE. `undefined`: the built-in catalog. */
  readonly catalogPath?: string | undefined;
  /** The beginning of the SHA-256 of that file. Replicas with the same file have the same hash. */
  readonly catalogHash: string;
  /** What is left out because variables of the environment are unset. */
  readonly leftOut: LeftOut;
  /** The configured upstreams by name. An upstream with an unset variable is left out. */
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
  /** The models in the order of the file. A model without a configured upstream is left out. */
  readonly models: readonly ModelConfig[];
  readonly tiers: ReadonlyMap<string, TierConfig>;
  readonly defaultTier: TierConfig;
  /** The currency of all prices, as an ISO 4217 code. */
  readonly currency: string;
  /** The receivers of events by name. */
  readonly webhooks: ReadonlyMap<string, WebhookConfig>;
  /** The configuration of the plugins by name, before the check by the plugins. */
  readonly plugins: ReadonlyMap<string, unknown>;
  /** The variables of the environment that set members of these configurations. */
  readonly pluginVariables: readonly PluginVariable[];
}

/** What CONFIG_FILE names, but the service does not offer, because variables of the environment are unset. */
interface LeftOut {
  /** The names of the unset variables. */
  readonly variables: readonly string[];
  /** The ids of the models without a configured upstream. */
  readonly models: readonly string[];
}

/**
 * Injection token of {@link Config}.
 *
 * @since 1.0
 */
export const CONFIG = Symbol('CONFIG');

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type DatabaseConfig =
  { readonly type: 'sqlite'; readonly path: string } | { readonly type: 'postgres'; readonly url: string };

/** The issuer of OpenID Connect by which people sign in. */
export interface SingleSignOnConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The origin under which browsers reach the service. */
  readonly publicUrl: string;
  /** The requested scopes, separated by spaces. */
  readonly scopes: string;
  /** Who may sign in. `undefined`: everyone whom the issuer signs in. */
  readonly requiredClaim?: ClaimCondition | undefined;
  /** The claim with the name of the tier. `undefined`: sign-ins do not change the tier. */
  readonly tierClaim?: string | undefined;
  /** Who is an operator. `undefined`: sign-ins do not change the role. */
  readonly operatorClaim?: ClaimCondition | undefined;
  /** Whether a back-channel logout also revokes the API keys of the account. */
  readonly logoutRevokesKeys: boolean;
}

/** A claim that must have a value, or contain the value in a list. */
export interface ClaimCondition {
  readonly name: string;
  readonly value: string;
}

/** The destination of traces. */
export interface TracingConfig {
  /** The base URL of the OTLP/HTTP collector, without a slash at its end. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** Additional attributes of the service in traces, by name. */
  readonly resourceAttributes: Readonly<Record<string, string>>;
}

/** The default of {@link UpstreamConfig.maxEventBytes}. A typical event of a provider has a few hundred bytes. */
export const DEFAULT_MAX_EVENT_BYTES = 1024 * 1024;

/**
 * A configured connection to a provider.
 *
 * @typeParam Options the options of the protocol, as its schema returns them.
 * @since 1.0
 */
export interface UpstreamConfig<Options = unknown> {
  readonly name: string;
  /** The name of the adapter, such as `openai`. */
  readonly protocol: string;
  /** `undefined` for protocols that answer inside this process. */
  readonly baseUrl: URL | undefined;
  readonly apiKey: string | undefined;
  /** Where the credentials of requests come from. `undefined`: only `apiKey` and `headers` authorize requests. */
  readonly credentials?: CredentialsConfig | undefined;
  /** Headers for every request. They override the headers of the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: UpstreamTimeouts;
  /** The settings of the protocol. Before the check by the protocol: the member of CONFIG_FILE, or `undefined`. */
  readonly options: Options;
  /** The request member for the token limit. Providers differ: newer models of OpenAI refuse `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether to ask for token counts in the stream. Some servers refuse this option. */
  readonly includeUsage: boolean;
  /** The maximum size of one event of the stream, and of one line in an event, in bytes. */
  readonly maxEventBytes: number;
  /** Whether callers get the messages of the provider about parameters and limits. `undefined`: they do. */
  readonly providerMessages?: 'shown' | 'hidden' | undefined;
}

/** The source of the credentials of an upstream. */
export interface CredentialsConfig {
  readonly kind: string;
  /** The other members, before the check by the source. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** The time limit from the sent request to the first sign of an answer. */
  readonly firstTokenMs: number;
  /** The time limit between two signs of an answer. */
  readonly idleMs: number;
}

export interface ModelConfig {
  /** `<vendor>/<model_name>`. The model name may contain more slashes. */
  readonly id: string;
  /** More names of the model in requests: exact names, or the beginning of names with `*` at the end. */
  readonly aliases?: readonly string[];
  readonly name: string;
  readonly provider: string;
  /** The size of the context window, in tokens. */
  readonly contextLength: number;
  /** The maximum size of an answer, in tokens, if known. */
  readonly maxOutputTokens: number | undefined;
  /** The price of the tokens, if known. A route can have its own price. */
  readonly price: PriceConfig | undefined;
  /** What the model can take. `undefined`: all that the protocols of its routes can map. */
  readonly capabilities?: readonly Capability[] | undefined;
  /** How the model takes an effort of reasoning. `undefined`: as the protocol assumes. */
  readonly thinking?: ThinkingKind | undefined;
  /** Whether the requests of one account go to the same route while the route is healthy. */
  readonly sticky: boolean;
  /** The routes with a configured upstream. There is at least one. */
  readonly routes: readonly [RouteConfig, ...RouteConfig[]];
}

/** The prices of one million tokens, by kind of token. */
export interface TokenPrices {
  /** Tokens of the prompt that the provider has neither read from its cache nor written to it. */
  readonly inputPerMillion: number;
  /** Tokens of the prompt from the provider's cache. `undefined`: unknown. */
  readonly cachedInputPerMillion?: number | undefined;
  /** Tokens of the prompt that the provider writes to its cache. `undefined`: unknown. */
  readonly cacheWriteInputPerMillion?: number | undefined;
  /** Tokens of the answer. */
  readonly outputPerMillion: number;
  /** Tokens of the reasoning. `undefined`: as for the answer. */
  readonly reasoningOutputPerMillion?: number | undefined;
}

/** The prices that apply to one stream. */
export interface AppliedPrice extends TokenPrices {
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
}

/** The prices of a model or of a route. */
export interface PriceConfig extends AppliedPrice {
  /** The prices of requests with a long prompt, if they differ. */
  readonly longInput?: LongInputPrices | undefined;
}

/** The prices of all tokens of a request whose prompt has more than `aboveInputTokens` tokens. */
interface LongInputPrices extends TokenPrices {
  readonly aboveInputTokens: number;
}

export interface RouteConfig {
  readonly upstream: UpstreamConfig;
  /** The name of the model at the upstream. */
  readonly model: string;
  /** The generation options that the model does not accept here. */
  readonly unsupportedOptions: readonly GenerationOption[];
  /** The price of the tokens at this upstream. `undefined`: the price of the model. */
  readonly price?: PriceConfig | undefined;
  /** Routes with the lowest number are tried first. */
  readonly priority: number;
  /** The share of the requests among the routes of the same priority. */
  readonly weight: number;
}

/**
 * The limits for an account of the tier. An unset limit means that there is no limit.
 *
 * @since 1.0
 */
export interface TierConfig extends TierLimits {
  readonly name: string;
  /** The upper bound of `max_tokens` in a request. */
  readonly maxTokens: number | undefined;
  /** What each account of the tier may spend. `undefined`: no limit. */
  readonly budget?: Budget | undefined;
  /** The members that plugins add, by name of the plugin. Each is checked by the schema `tier` of the plugin. */
  readonly plugins: Readonly<Record<string, unknown>>;
}
