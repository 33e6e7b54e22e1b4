import { Logger, type MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { SilenceTimer } from '../../common/timers/silence-timer.js';
import { toServiceError } from '../../http/errors/to-service-error.js';
import type { CompletionStream } from '../../upstreams/completion/completion-stream.js';
import type { Chunk } from './chunk.dto.js';
import type { GapClock } from './gap-clock.js';
import type { StreamSink } from './stream-sink.js';

const KEEP_ALIVE_MS = 15_000;

const LAST_CHUNK: Chunk = { content: '', done: true };
const logger = new Logger('ChatStream');

/**
 * Converts the texts of an answer to the events of the stream. The next text is read only when the socket of the client can
 * take more data. So a slow client slows the provider down.
 */
export function chunkEvents(texts: CompletionStream, sink: StreamSink, gaps?: GapClock): Observable<MessageEvent> {
  return new Observable((subscriber) => {
    const send: Send = (event) => {
      sink.sending();
      subscriber.next(event);
    };
    const silence = new SilenceTimer(
      KEEP_ALIVE_MS,
      () => sink.isReady,
      () => {
        send({ comment: 'keep-alive' });
      },
    );
    void pump(texts, send, sink, subscriber, silence, gaps);
    return () => {
      silence.stop();
      void texts.return();
    };
  });
}

type Send = (event: MessageEvent) => void;

async function pump(
  texts: CompletionStream,
  send: Send,
  sink: StreamSink,
  subscriber: Subscriber<MessageEvent>,
  silence: SilenceTimer,
  gaps: GapClock | undefined,
): Promise<void> {
  try {
    for (;;) {
      const next = await texts.next();
      if (subscriber.closed) return;
      if (next.done === true) break;
      gaps?.text();
      if (texts.isWhole) sink.cork();
      send({ data: { content: next.value, done: false } satisfies Chunk });
      silence.allow(KEEP_ALIVE_MS);
      if (sink.isReady) continue;
      await sink.ready();
      gaps?.ready();
    }
    send({ data: LAST_CHUNK });
  } catch (error) {
    if (subscriber.closed) return;
    send({ type: 'error', data: failedChunk(error) });
  }
  sink.ending();
  subscriber.complete();
}

function failedChunk(thrown: unknown): Chunk {
  const { code, message, cause } = toServiceError(thrown);
  if (code === 'internal_error') logger.error(cause);
  return { content: '', done: false, error: { code, message } };
}
