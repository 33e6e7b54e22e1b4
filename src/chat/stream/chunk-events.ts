import type { MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import type { Chunk } from './chunk.dto.js';
import type { InterChunkClock } from './inter-chunk-clock.js';
import { escapedLineEnds, hasLineEnds } from './line-ends.js';
import { PartPump, type EventFormat, type EventSink, type ReadableParts } from './part-pump.js';
import type { StreamBackpressure } from './stream-backpressure.js';

const LAST_CHUNK: Chunk = { content: '', done: true };

/** The events of `POST /chat/stream`. Only texts are part of the stream. */
const CHUNKS: EventFormat<MessageEvent> = {
  part: (part, position) => {
    if (part.type !== 'text') return undefined;
    const data = textChunk(part.text);
    return position === undefined ? { data } : { id: position, data };
  },
  keepAlive: () => ({ comment: 'keep-alive' }),
  end: () => ({ data: LAST_CHUNK }),
  error: ({ code, message }) => {
    const chunk: Chunk = { content: '', done: false, error: { code, message } };
    return { type: 'error', data: chunk };
  },
};

/**
 * Converts the texts of an answer to the events of the stream, for Nest's `@Sse()`. The next text is read only when the socket
 * of the client can take more data.
 */
export function chunkEvents(
  parts: ReadableParts,
  backpressure: StreamBackpressure,
  requestId: string,
  clock?: InterChunkClock,
): Observable<MessageEvent> {
  return new Observable((subscriber) => {
    const sink = new ObservableSink(subscriber, backpressure);
    const pump = new PartPump(parts, CHUNKS, sink, requestId, clock);
    pump.run();
    return () => {
      pump.stop();
    };
  });
}

/** A class, because an object literal with a getter keeps each stream in memory until the next full garbage collection. */
class ObservableSink implements EventSink<MessageEvent> {
  constructor(
    private readonly subscriber: Subscriber<MessageEvent>,
    private readonly backpressure: StreamBackpressure,
  ) {}

  get isReady(): boolean {
    return this.backpressure.isReady;
  }

  whenReady(listener: (wasSlow: boolean) => void): void {
    this.backpressure.whenReady(listener);
  }

  cork(): void {
    this.backpressure.cork();
  }

  send(event: MessageEvent): void {
    this.backpressure.sending();
    this.subscriber.next(event);
  }

  end(): void {
    this.backpressure.ending();
    this.subscriber.complete();
  }

  abort(): void {
    this.backpressure.abort();
  }
}

/** Returns the chunk as an object, which Nest writes as JSON, or as JSON text where Nest's JSON is not safe to read. */
function textChunk(content: string): Chunk | string {
  const chunk: Chunk = { content, done: false };
  return hasLineEnds(content) ? escapedLineEnds(JSON.stringify(chunk)) : chunk;
}
