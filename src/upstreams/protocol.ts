import type { UpstreamConfig } from '../config/config.js';
import type { ChatCall } from './chat-call.js';
import type { StreamPart } from './stream-part.js';

/** One decoded server-sent event. `event` is `message` where the vendor named none. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** The request to send: always a POST whose answer is an event stream. */
export interface UpstreamRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A long body may be made in steps, so that other requests are served meanwhile. */
  readonly body: string | Promise<Uint8Array>;
}

/**
 * Reads one vendor's wire protocol over HTTP. Registered in {@link PROTOCOLS}, or by a team's own package with
 * `AppModule.register({ protocols: [...] })`. Implementations hold no state: one instance serves all streams.
 */
export interface HttpProtocol {
  readonly transport: 'http';
  /** The `protocol` of an upstream in CONFIG_FILE. */
  readonly name: string;
  /** What to send; throws `invalid_request` when the vendor could never accept it. */
  request(call: ChatCall, upstream: UpstreamConfig): UpstreamRequest;
  /**
   * One decoded event to the parts it holds, in order; [] for what is neither content nor progress, so also for events
   * and members that the vendor adds one day. An event that is not what the protocol says at all (not JSON) is an
   * `error` part with code `upstream_error`. Never throws.
   */
  parts(event: ServerSentEvent): readonly StreamPart[];
}

/**
 * Answers in this process, without a vendor. The iterable ends after a `complete` part, stops soon after `signal` aborts,
 * and may throw a `ServiceError`.
 */
export interface InProcessProtocol {
  readonly transport: 'in-process';
  readonly name: string;
  stream(call: ChatCall, upstream: UpstreamConfig, signal: AbortSignal): AsyncIterable<StreamPart>;
}

export type Protocol = HttpProtocol | InProcessProtocol;
