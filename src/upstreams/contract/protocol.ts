import type { UpstreamConfig } from '../../config/config.js';
import type { ChatCall } from './chat-call.js';
import type { StreamPart } from './stream-part.js';

/** One decoded server-sent event. `event` is `message` if the provider sent no event name. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** The request to send. It is always a POST request, and the answer is an event stream. */
export interface UpstreamRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A promise if the body is long: the body is then created in steps, so that the process can serve other requests. */
  readonly body: string | Promise<Uint8Array>;
}

/**
 * Implements a provider's wire protocol over HTTP. Register an instance in {@link PROTOCOLS}, or from your own package with
 * `AppModule.register({ protocols: [...] })`. Implementations hold no state: one instance serves all streams.
 */
export interface HttpProtocol {
  readonly transport: 'http';
  /** The value of `protocol` of an upstream in CONFIG_FILE. */
  readonly name: string;
  /**
   * Creates the request to send.
   *
   * @throws {ServiceError} `invalid_request` when the provider could never accept the request.
   */
  request(call: ChatCall, upstream: UpstreamConfig): UpstreamRequest;
  /**
   * Converts one decoded event to its parts, in order. Never throws.
   *
   * Returns [] for an event that holds neither content nor progress. This includes events and members that the provider may
   * add later. Returns an `error` part with code `upstream_error` for an event that violates the protocol (for example, it
   * is not JSON).
   */
  parts(event: ServerSentEvent): readonly StreamPart[];
}

/**
 * Produces answers in this process, without a provider. The iterable ends after a `complete` part and stops soon after
 * `signal` aborts. The iterable may throw a `ServiceError`.
 */
export interface InProcessProtocol {
  readonly transport: 'in-process';
  readonly name: string;
  stream(call: ChatCall, upstream: UpstreamConfig, signal: AbortSignal): AsyncIterable<StreamPart>;
}

export type Protocol = HttpProtocol | InProcessProtocol;
