import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import type { Subscriber } from 'rxjs';
import { correctNestSse } from './nest-sse-corrections.js';
import type { EventSink } from './part-pump.js';
import { ResponseBackpressure } from './response-backpressure.js';

/**
 * Emits the events of a stream of Nest's `@Sse()`, and reports when the next event may be emitted. Nest never pauses an Observable, and
 * has a queue of its own: therefore events count until they are written. Create this object when Nest subscribes.
 */
export class SseSink extends ResponseBackpressure implements EventSink<MessageEvent> {
  /** The number of events that Nest has not written to the response yet. */
  private pending = 0;

  /**
   * @param stallMs the time after which the connection of a client that reads nothing is closed.
   * @param keepsIds whether the `id:` lines of the service are sent. Without this, no event has an id.
   */
  constructor(
    response: Response,
    stallMs: number,
    private readonly subscriber: Pick<Subscriber<MessageEvent>, 'next' | 'complete'>,
    keepsIds = false,
  ) {
    super(response, stallMs);
    correctNestSse(response, {
      keepsIds,
      beforeHeaders: () => {
        // Without this, Nest flushes the headers separately, and waits for one tick between two events.
        this.cork();
      },
      afterEvent: () => {
        this.pending--;
        if (this.pending === 0) this.notifyIfReady(false);
      },
    });
  }

  send(event: MessageEvent): void {
    this.pending++;
    this.subscriber.next(event);
  }

  end(): void {
    this.ending();
    this.subscriber.complete();
  }

  override get isReady(): boolean {
    return this.pending === 0 && super.isReady;
  }

  override whenReady(listener: (wasSlow: boolean) => void): void {
    if (this.pending === 0) super.whenReady(listener);
    else this.onReady = listener;
  }
}
