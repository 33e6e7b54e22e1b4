import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../../../common/service-error.js';
import { ShedLoad } from '../../../common/shed-load.js';
import { CONFIG, type Config } from '../../../config/config.js';

const RETRY_AFTER_SECONDS = 5;

/** The memory of this process for the texts of durable streams (STREAM_MEMORY_MB). */
@Injectable()
export class StreamMemory {
  /** Bytes in use. */
  used = 0;
  /** Drops the oldest stream that has ended. Returns false when there is none. */
  makeRoom: () => boolean = () => false;
  private readonly limit: number;

  constructor(
    @Inject(CONFIG) { streamMemoryBytes }: Pick<Config, 'streamMemoryBytes'>,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limit = streamMemoryBytes;
  }

  /**
   * Counts `bytes` more. Drops ended streams, the oldest first, when the memory is full.
   *
   * @throws {ServiceError} `unavailable` when the running streams fill the memory.
   */
  take(bytes: number): void {
    while (this.used + bytes > this.limit) {
      if (this.makeRoom()) continue;
      this.shedLoad.note('stream_memory');
      throw new ServiceError('unavailable', 'This process cannot keep more text of durable streams. Try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.used += bytes;
  }

  release(bytes: number): void {
    this.used -= bytes;
  }
}
