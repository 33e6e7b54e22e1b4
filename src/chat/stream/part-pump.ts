import { Logger } from '@nestjs/common';
import { ServiceError } from '../../platform/common/service-error.js';
import { IdleTimeout } from '../../platform/common/timers/timeouts.js';
import { toServiceError } from '../../platform/http/errors/to-service-error.js';
import { CLIENT_GONE, type PartReader } from '../../upstreams/completion/part-stream.js';
import type { CompletionPart } from '../../upstreams/contract/stream-part.js';
import type { InterChunkClock } from './inter-chunk-latencies.js';

const KEEP_ALIVE_MS = 15_000;
const logger = new Logger('ChatStream');

/** The parts of an answer, as far as a client needs them. */
export interface ReadableParts extends Pick<PartReader, 'onReadable' | 'isOver' | 'isWhole' | 'read'> {
  /** The position after the part that `read` has returned last. Plain streams have no positions. */
  readonly position?: string;
  return(): Promise<unknown>;
}

/** The events of one stream. Each member creates one event. `undefined` sends nothing. */
export interface EventFormat<Event> {
  part(part: CompletionPart, position: string | undefined): Event | undefined;
  keepAlive(): Event | undefined;
  end(): Event | undefined;
  error(error: ServiceError): Event | undefined;
}

/** The client of one stream: takes events, and reports when it can take more. */
export interface EventSink<Event> {
  /** True when the client has taken everything and can take more. */
  readonly isReady: boolean;
  /** Calls the listener once, when {@link isReady} is true. `wasSlow`: the stream had to wait for the client. */
  whenReady(listener: (wasSlow: boolean) => void): void;
  /** Sends all data of this turn of the event loop together. */
  cork(): void;
  send(event: Event): void;
  /** Ends the stream after the events that were sent. */
  end(): void;
  /** Closes the connection, so that the client sees that the stream is incomplete. */
  abort(): void;
}

/**
 * Moves the parts of one answer to its client. The next part is read only when the client can take more, so a slow client
 * slows the provider down. Sends a keep-alive event after 15 s without another event. It uses no promise for a part that has
 * already arrived.
 */
export class PartPump<Event> {
  private readonly keepAlive: IdleTimeout;
  private isWaitingForClient = false;
  private isOver = false;

  constructor(
    private readonly parts: ReadableParts,
    private readonly format: EventFormat<Event>,
    private readonly sink: EventSink<Event>,
    private readonly requestId: string,
    private readonly clock?: InterChunkClock,
  ) {
    this.keepAlive = new IdleTimeout(
      KEEP_ALIVE_MS,
      () => sink.isReady,
      () => {
        this.beat();
      },
    );
    parts.onReadable = () => {
      this.run();
    };
  }

  /** Sends everything that has arrived, until the client cannot take more. */
  run(): void {
    if (this.isWaitingForClient || this.isOver) return;
    try {
      while (this.sendNext()) {
        if (this.sink.isReady) continue;
        this.waitForClient();
        return;
      }
      if (!this.parts.isOver) return;
      this.send(this.format.end());
      this.isOver = true;
      this.sink.end();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Call this once, when the stream is over or its client has left. */
  stop(): void {
    this.isOver = true;
    this.keepAlive.stop();
    void this.parts.return();
  }

  /** Sends the next part. Returns false when there is none. */
  private sendNext(): boolean {
    const part = this.parts.read();
    if (part === undefined) return false;
    const event = this.format.part(part, this.parts.position);
    if (event === undefined) return true;
    if (part.type === 'text') this.clock?.text();
    if (this.parts.isWhole) this.sink.cork();
    this.sink.send(event);
    this.keepAlive.restart(KEEP_ALIVE_MS);
    return true;
  }

  private beat(): void {
    try {
      if (!this.isOver) this.send(this.format.keepAlive());
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(thrown: unknown): void {
    this.isOver = true;
    if (thrown instanceof EndUnknown) {
      this.sink.abort();
      return;
    }
    try {
      this.send(this.format.error(this.failureOf(thrown)));
      this.sink.end();
    } catch (error) {
      // The format has failed, too.
      this.failureOf(error);
      this.sink.abort();
    }
  }

  private send(event: Event | undefined): void {
    if (event !== undefined) this.sink.send(event);
  }

  private waitForClient(): void {
    this.isWaitingForClient = true;
    this.sink.whenReady((wasSlow) => {
      this.isWaitingForClient = false;
      if (wasSlow) this.clock?.ready();
      this.run();
    });
  }

  private failureOf(thrown: unknown): ServiceError {
    const failure = toServiceError(thrown);
    const { code, message, cause } = failure;
    // A client that has left is an ordinary end, which the log line of the request shows.
    if (code === 'internal_error' && thrown !== CLIENT_GONE) {
      const [reason, stack] = cause instanceof Error ? [cause.message, cause.stack] : [];
      logger.error({ msg: message, requestId: this.requestId, code, reason }, stack);
    }
    return failure;
  }
}

/** The end of an answer is unknown. A stream is cut off without a last event, so that its client comes again for the end. */
export class EndUnknown extends ServiceError {
  constructor() {
    super('unavailable', 'The end of this answer is not known yet. Try again.', { retryAfterSeconds: 1 });
  }
}
