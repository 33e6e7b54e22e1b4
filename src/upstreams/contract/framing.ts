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
