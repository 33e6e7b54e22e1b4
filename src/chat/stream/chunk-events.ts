import { Logger, type MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { IdleTimeout } from '../../common/timers/idle-timeout.js';
import { toServiceError } from '../../http/errors/to-service-error.js';
import { CLIENT_GONE, type PartReader } from '../../upstreams/completion/part-reader.js';
import type { Chunk } from './chunk.dto.js';
import type { InterChunkClock } from './inter-chunk-clock.js';
import type { StreamBackpressure } from './stream-backpressure.js';

const KEEP_ALIVE_MS = 15_000;

/** Line ends of Unicode. JSON leaves them as they are, but simple readers divide the stream at them. */
const LINE_ENDS = /[\u0085\u2028\u2029]/;
const EACH_LINE_END = new RegExp(LINE_ENDS, 'g');

const LAST_CHUNK: Chunk = { content: '', done: true };
const logger = new Logger('ChatStream');

/** The parts of an answer, as far as a client needs them. */
export interface ReadableParts extends Pick<PartReader, 'onReadable' | 'isOver' | 'isWhole' | 'read'> {
  /** The `id:` of the event with the text that `read` has returned last. Plain streams have no ids. */
  readonly position?: string;
  return(): Promise<unknown>;
}

/**
 * Converts the texts of an answer to the events of the stream. The next text is read only when the socket of the client can
 * take more data. So a slow client slows the provider down.
 */
export function chunkEvents(
  parts: ReadableParts,
  backpressure: StreamBackpressure,
  requestId: string,
  gaps?: InterChunkClock,
): Observable<MessageEvent> {
  return new Observable((subscriber) => {
    const pump = new ChunkPump(parts, backpressure, subscriber, requestId, gaps);
    pump.run();
    return () => {
      pump.stop();
    };
  });
}

/** Moves the parts of one answer to its subscriber. It uses no promise for a part that has already arrived. */
class ChunkPump {
  private readonly keepAlive: IdleTimeout;
  private isWaitingForClient = false;

  constructor(
    private readonly parts: ReadableParts,
    private readonly backpressure: StreamBackpressure,
    private readonly subscriber: Subscriber<MessageEvent>,
    private readonly requestId: string,
    private readonly gaps: InterChunkClock | undefined,
  ) {
    this.keepAlive = new IdleTimeout(
      KEEP_ALIVE_MS,
      () => backpressure.isReady,
      () => {
        this.send({ comment: 'keep-alive' });
      },
    );
    parts.onReadable = () => {
      this.run();
    };
  }

  /** Sends everything that has arrived, until the client cannot take more. */
  run(): void {
    if (this.isWaitingForClient || this.subscriber.closed) return;
    try {
      while (this.sendNext()) {
        if (this.backpressure.isReady) continue;
        this.waitForClient();
        return;
      }
    } catch (error) {
      this.end({ type: 'error', data: failedChunk(error, this.requestId) });
      return;
    }
    if (this.parts.isOver) this.end({ data: LAST_CHUNK });
  }

  stop(): void {
    this.keepAlive.stop();
    void this.parts.return();
  }

  /** Sends the next part. Returns false when there is none. Only texts are part of the stream. */
  private sendNext(): boolean {
    const part = this.parts.read();
    if (part === undefined) return false;
    if (part.type !== 'text') return true;
    this.gaps?.text();
    if (this.parts.isWhole) this.backpressure.cork();
    const data = textChunk(part.text);
    const { position } = this.parts;
    this.send(position === undefined ? { data } : { id: position, data });
    this.keepAlive.restart(KEEP_ALIVE_MS);
    return true;
  }

  private waitForClient(): void {
    this.isWaitingForClient = true;
    this.backpressure.whenReady((wasSlow) => {
      this.isWaitingForClient = false;
      if (wasSlow) this.gaps?.ready();
      this.run();
    });
  }

  private send(event: MessageEvent): void {
    this.backpressure.sending();
    this.subscriber.next(event);
  }

  private end(event: MessageEvent): void {
    this.send(event);
    this.backpressure.ending();
    this.subscriber.complete();
  }
}

/** Returns the chunk as an object, which Nest writes as JSON, or as JSON text where Nest's JSON is not safe to read. */
function textChunk(content: string): Chunk | string {
  const chunk: Chunk = { content, done: false };
  return LINE_ENDS.test(content) ? JSON.stringify(chunk).replace(EACH_LINE_END, escaped) : chunk;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function failedChunk(thrown: unknown, requestId: string): Chunk {
  const { code, message, cause } = toServiceError(thrown);
  // A client that has left is an ordinary end, which the log line of the request shows.
  if (code === 'internal_error' && thrown !== CLIENT_GONE) {
    const [reason, stack] = cause instanceof Error ? [cause.message, cause.stack] : [];
    logger.error({ msg: message, requestId, code, reason }, stack);
  }
  return { content: '', done: false, error: { code, message } };
}
