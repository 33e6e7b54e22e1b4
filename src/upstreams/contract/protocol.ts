import type { ServiceError } from '../../platform/common/service-error.js';
import type {
  Capability,
  GenerationOption,
  GenerationOptions,
  ThinkingKind,
} from '../../platform/config/capabilities.js';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { OptionsSchema } from './options-schema.js';
import type { StreamPart } from './stream-part.js';
import type { Message, ReasoningOptions, ResponseFormat, Tool, ToolChoice } from './conversation.js';
import type { RequestInit, Response } from 'undici';

/**
 * The request whose response is the stream of events.
 *
 * @since 1.0
 */
export interface UpstreamRequest {
  /** By default `POST`. `GET` is for a protocol whose answer has a request of its own, and sends no body. */
  readonly method?: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** `''` for GET. */
  readonly body: string;
}

/** The provider's name of each generation option that a protocol takes. */
export type OptionNames = Readonly<Partial<Record<GenerationOption, string>>>;

/**
 * The headers of a response. The names are in lower case. A provider can send a header more than once.
 *
 * @since 1.0
 */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads the events of one stream. It may keep state, because each stream has its own reader.
 *
 * @since 1.0
 */
export interface AnswerReader<Event = ProviderEvent> {
  /**
   * Converts one event to its parts, in order. Never throws.
   *
   * Returns [] for an event that holds neither content nor progress. This includes events and members that the provider may
   * add later. Returns an `error` part with code `upstream_error` for an event that violates the protocol (for example, it
   * is not JSON).
   */
  parts(event: Event): readonly StreamPart[];
  /** Returns the last parts, when the provider has ended the body. Not called when the connection fails. */
  end?(): readonly StreamPart[];
}

/**
 * Implements a provider's wire protocol over HTTP. Name the class in `protocols` of a plugin. One object
 * serves all streams, so the object itself holds no state.
 *
 * @typeParam Options the `options` of an upstream in CONFIG_FILE, as the schema returns them.
 * @typeParam Event what the framing passes on.
 * @since 1.0
 */
export interface HttpProtocol<Options = unknown, Event = ProviderEvent> {
  readonly transport: 'http';
  /** The value of `protocol` of an upstream in CONFIG_FILE. */
  readonly name: string;
  /** Checks `options` of an upstream at start-up. By default, an upstream with options is invalid. */
  readonly options?: OptionsSchema<Options>;
  /**
   * The generation options that the protocol takes, each with the provider's name. By default none: the temperature is left
   * out, and a request with another option does not go to this protocol. See `optionMembers`.
   */
  readonly generationOptions?: OptionNames;
  /** The generation options that a model refuses if it has the capability `reasoning`. They are left out for such a model. */
  readonly refusedByReasoning?: readonly GenerationOption[];
  /**
   * Whether a signature or encrypted reasoning is valid only at the upstream that has made it. The next turn then goes to this upstream
   * first, and another upstream does not get it. By default, each upstream with the protocol can read it.
   *
   * @param state as the protocol has made it.
   */
  isBoundToUpstream?(state: string): boolean;
  /**
   * What the protocol can map besides texts. By default nothing: each content of a message is then a string, and a request with
   * images, tools, a response format or an effort of reasoning does not go to this protocol.
   */
  readonly capabilities?: readonly Capability[];
  /** Divides the body of a response into events. By default, the body is a stream of server-sent events. */
  readonly framing?: Framing<Event>;
  /** Returns the address of an upstream without `base_url`. By default, `base_url` is required. */
  baseUrl?(upstream: UpstreamConfig<Options>): URL | undefined;
  /**
   * Creates the request to send. May be asynchronous, for example to fetch a token or to begin a job first. `first_token_ms` limits
   * the time.
   *
   * @throws {ServiceError} `invalid_request` when the provider could never accept the request.
   */
  request(
    call: ChatCall,
    upstream: UpstreamConfig<Options>,
    context: CallContext,
  ): UpstreamRequest | Promise<UpstreamRequest>;
  /** Returns the reader of one stream. */
  open(call: ChatCall, upstream: UpstreamConfig<Options>): AnswerReader<Event>;
  /**
   * Converts a response that is not a stream to the error for the caller. `undefined`, or no such method: the service derives
   * the error from the status, `Retry-After` and the usual error bodies.
   *
   * @param body the beginning of the body, at most 256 KiB.
   */
  failure?(status: number, headers: ResponseHeaders, body: string): ServiceError | undefined;
}

/**
 * Produces answers in this process, without a request of the service: for example with a library that has its own client.
 *
 * The iterable ends after a `complete` part. The service closes the iterator (`return()`) and aborts `context.signal` when
 * the stream is over, whatever the reason. The iterable may throw a `ServiceError`.
 *
 * @since 1.0
 */
export interface InProcessProtocol<Options = unknown> {
  readonly transport: 'in-process';
  readonly name: string;
  /** See {@link HttpProtocol.options}. */
  readonly options?: OptionsSchema<Options>;
  /** See {@link HttpProtocol.generationOptions}. */
  readonly generationOptions?: OptionNames;
  /** See {@link HttpProtocol.refusedByReasoning}. */
  readonly refusedByReasoning?: readonly GenerationOption[];
  /** See {@link HttpProtocol.isBoundToUpstream}. */
  isBoundToUpstream?(state: string): boolean;
  /** See {@link HttpProtocol.capabilities}. */
  readonly capabilities?: readonly Capability[];
  stream(call: ChatCall, upstream: UpstreamConfig<Options>, context: CallContext): AsyncIterable<StreamPart>;
}

/** A protocol with any options and any framing. */
export type Protocol = HttpProtocol<unknown, unknown> | InProcessProtocol;

export type Role = 'system' | 'user' | 'assistant';

/** A message of one plain text. */
export interface ChatMessage {
  readonly role: Role;
  readonly content: string;
}

/**
 * One completion request to one provider: the validated request with the names that the provider uses.
 *
 * @since 1.0
 */
export interface ChatCall {
  /** The provider's name of the model. */
  readonly model: string;
  /** For a protocol without capabilities, each content is a string. */
  readonly messages: readonly Message[];
  /** Only options that the protocol and the route take. */
  readonly options: GenerationOptions;
  /** The maximum number of tokens of the answer, at least 1. `undefined`: only the limit of the model applies. */
  readonly maxTokens: number | undefined;
  /**
   * The maximum number of tokens that the model can write in one answer. `undefined`: the catalog does not contain the
   * number.
   */
  readonly modelMaxOutputTokens: number | undefined;
  /** What the model can take besides texts. `undefined`: the catalog does not say. */
  readonly modelCapabilities?: readonly Capability[] | undefined;
  /** How the model takes an effort of reasoning. `undefined`: the catalog does not say. */
  readonly modelThinking?: ThinkingKind | undefined;
  /** Only for a protocol with the capability `tools`. Not empty. */
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  /** Only for a protocol with the capability `structured_output`. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** A protocol without the capability `reasoning` ignores it: then no effort is asked for. */
  readonly reasoning?: ReasoningOptions | undefined;
  /** An opaque id of the person for whom the request is made. */
  readonly user?: string | undefined;
}

/**
 * What a protocol may need to know about one attempt, and what it may use.
 *
 * @since 1.0
 */
export interface CallContext {
  /** The id of the client's request, as in `X-Request-Id` and in the log. */
  readonly requestId: string;
  readonly accountId: string;
  /** Aborts when the attempt is over: the client has left, a time limit has expired, or the answer has ended. */
  readonly signal: AbortSignal;
  /**
   * Sends a request over the connections of the service, for example to fetch a token. It uses the connect timeout of the
   * upstream and counts for the limit of connections. It ends with the attempt. A protocol need not catch a failed
   * connection: the attempt then fails as if the connection to the provider had failed.
   */
  fetch(url: string | URL, init?: Omit<RequestInit, 'dispatcher'>): Promise<Response>;
  /**
   * Sets what to do when the attempt is over: for example, to cancel a job. It runs once, also if the attempt is over already. Its
   * errors are ignored. It is not awaited, and a killed process does not run it, so the provider needs a time limit, too.
   *
   * @param cleanUp gets a `fetch` that works after the attempt, for 10 seconds.
   */
  afterAttempt(cleanUp: CleanUp): void;
}

/** @param end `complete`: the answer is complete. `stopped`: the client has left, or the service stops. `failed`: any other end. */
export type CleanUp = (fetch: CallContext['fetch'], end: 'complete' | 'stopped' | 'failed') => Promise<unknown>;

/**
 * One event of a provider. `event` is `message` if the provider sent no event name.
 *
 * @since 1.0
 */
export interface ProviderEvent {
  readonly event: string;
  readonly data: string;
}

/** Divides the bytes of one answer into events. The bytes may be split at any place. */
export interface Decoder {
  /** @throws {ServiceError} `upstream_error` for an event that is too large. */
  write(bytes: Buffer): void;
  /** Ends the stream, and passes on the last event if it is complete enough. */
  end(): void;
}

interface FramingLimits {
  /** The maximum number of bytes of one event: `max_event_bytes` of the upstream. */
  readonly maxEventBytes: number;
}

/**
 * Creates the decoder of one answer. The decoder calls `onEvent` for each event as soon as its last byte arrives. The
 * service has server-sent events, the default, and {@link ndjson}. A protocol may bring its own.
 *
 * @since 1.0
 */
export type Framing<Event = ProviderEvent> = (onEvent: (event: Event) => void, limits: FramingLimits) => Decoder;
