import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { EventLoop } from '../../platform/common/event-loop/event-loop.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad, type ShedReason } from '../../platform/common/shed-load.js';
import { CONFIG, type Config } from '../../platform/config/config.js';

/** When a client may try again, in seconds. By then another replica or a slot may be free. */
const RETRY_AFTER_SECONDS = 5;

/** The slots for streams in this process (MAX_STREAMS). They protect the process from all accounts together. */
@Injectable()
export class StreamSlots {
  /** The requests of this process that hold one of the concurrent streams of their tier. For metrics only. */
  takenInTiers = 0;
  private taken = 0;
  private readonly limit: number;

  constructor(
    @Inject(CONFIG) { maxStreams }: Config,
    private readonly eventLoop: EventLoop,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limit = maxStreams;
  }

  /** Returns the error when no stream may begin now, otherwise `undefined`. Called before any work is done for the stream. */
  refusal(): ServiceError | undefined {
    if (this.taken >= this.limit) return this.shed('streams', 'This process has as many open streams as it can hold.');
    if (this.eventLoop.isOverloaded) return this.shed('event_loop', 'This process is overloaded.');
    return undefined;
  }

  /**
   * Takes a slot until the response is over.
   *
   * @returns a function that releases the slot at once.
   * @throws {ServiceError} `unavailable` when no slot is free.
   */
  take(response: Response): () => void {
    if (this.taken >= this.limit) throw this.shed('streams', 'This process has as many open streams as it can hold.');
    this.taken += 1;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.taken -= 1;
      isHeld = false;
    };
    if (response.closed) release();
    else response.once('close', release);
    return release;
  }

  private shed(reason: ShedReason, message: string): ServiceError {
    this.shedLoad.count(reason);
    return new ServiceError('unavailable', `${message} Try again.`, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
