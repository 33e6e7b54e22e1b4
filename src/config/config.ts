/** The whole configuration, validated and read-only. Read from the environment and CONFIG_FILE once, at start-up. */
export interface Config {
  readonly production: boolean;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly database: DatabaseConfig;
  readonly redisUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** How many proxies stand in front and may be believed about the client's address. */
  readonly trustedProxies: number;
  readonly shutdownGraceMs: number;
  /** How long a client may read nothing of its stream before the connection is cut. */
  readonly stalledReaderMs: number;
  /** How long a client may read next to nothing of an answer that is no stream. */
  readonly unreadAnswerMs: number;
  /** Streams open at once in this process. */
  readonly maxStreams: number;
  /** Connections of clients open at once in this process. */
  readonly maxConnections: number;
  readonly metricsPort: number | undefined;
  /** `undefined`: no traces. */
  readonly tracing?: TracingConfig | undefined;
  readonly signUp: 'open' | 'closed';
  /** Whether `/api/docs` and the OpenAPI document are served. */
  readonly apiDocs: 'open' | 'closed';
  /** By name, the configured ones only: an upstream whose variables are unset is not here. */
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
  /** In the order of the file; only models with at least one configured upstream. */
  readonly models: readonly ModelConfig[];
  readonly tiers: ReadonlyMap<string, TierConfig>;
  readonly defaultTier: TierConfig;
  /** Of all prices, ISO 4217. */
  readonly currency: string;
}

/** Injection token of {@link Config}. */
export const CONFIG = Symbol('CONFIG');

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type DatabaseConfig =
  { readonly type: 'sqlite'; readonly path: string } | { readonly type: 'postgres'; readonly url: string };

/** Where traces go. */
export interface TracingConfig {
  /** The base of the OTLP/HTTP collector, without a slash at its end. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/** {@link UpstreamConfig.maxEventBytes} of an upstream that does not set it. Events of vendors have a few hundred bytes. */
export const DEFAULT_MAX_EVENT_BYTES = 1024 * 1024;

/** A connection to a vendor. */
export interface UpstreamConfig {
  readonly name: string;
  /** The name of the adapter, such as `openai`. */
  readonly protocol: string;
  /** `undefined` for protocols that answer in this process. */
  readonly baseUrl: URL | undefined;
  readonly apiKey: string | undefined;
  /** Sent with every request, over those of the protocol. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: UpstreamTimeouts;
  /** The member that carries the token limit where vendors differ: OpenAI's newer models refuse `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether to ask for token counts in the stream; some servers refuse the option. */
  readonly includeUsage: boolean;
  /** Most bytes of one event of the stream, and of one line in it. */
  readonly maxEventBytes: number;
}

export interface UpstreamTimeouts {
  readonly connectMs: number;
  /** From the sent request to the first sign of an answer. */
  readonly firstTokenMs: number;
  /** Between two signs of an answer. */
  readonly idleMs: number;
}

export interface ModelConfig {
  /** `<vendor>/<model_name>`; the name may hold more slashes. */
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** Tokens. */
  readonly contextLength: number;
  /** Tokens, where it is known. */
  readonly maxOutputTokens: number | undefined;
  /** What its tokens cost, where it is known. */
  readonly price: PriceConfig | undefined;
  /** At least one, tried in order; only those whose upstream is configured. */
  readonly routes: readonly [RouteConfig, ...RouteConfig[]];
}

/** What tokens cost, per million of them. */
export interface PriceConfig {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
}

export interface RouteConfig {
  readonly upstream: UpstreamConfig;
  /** The vendor's own name of the model. */
  readonly model: string;
  /** Whether the model takes a sampling temperature; some reasoning models refuse it. */
  readonly temperature: boolean;
}

/** What an account of the tier may do. A missing limit is no limit. */
export interface TierConfig {
  readonly name: string;
  readonly requestsPerMinute: number | undefined;
  readonly concurrentStreams: number | undefined;
  /** Upper bound of a request's `max_tokens`. */
  readonly maxTokens: number | undefined;
  /** Of prompts and answers together, in a calendar day in UTC. */
  readonly tokensPerDay?: number | undefined;
}
