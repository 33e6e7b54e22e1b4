import type { ServiceError } from '../../platform/common/service-error.js';
import type { Capability, GenerationOption } from '../../platform/config/capabilities.js';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { CallContext, ChatCall } from './chat-call.js';
import type { Framing, ProviderEvent } from './framing.js';
import type { OptionsSchema } from './options-schema.js';
import type { StreamPart } from './stream-part.js';

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
