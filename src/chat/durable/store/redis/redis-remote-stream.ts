import { ServiceError } from '../../../../common/service-error.js';
import { withTimeout } from '../../../../common/timers/with-timeout.js';
import { streamId, type StreamAddress } from '../../identity/stream-identity.js';
import type { StreamLog } from '../../log/stream-log.js';
import { once, type StoredStream } from '../stream-store.js';
import type { Cancellations } from './cancellations.js';
import type { ReaderSlots } from './reader-slots.js';
import { orUnavailable } from './redis-availability.js';
import type { RemoteStream, StreamMirrors } from './stream-mirrors.js';

/** The death of an owner is noticed in this time too. */
const CANCELLED_WITHIN_MS = 10_000;

export interface RemoteTools {
  readonly mirrors: StreamMirrors;
  readonly slots: ReaderSlots;
  readonly cancellations: Cancellations;
}

/** A stream that another replica generates, or that has ended. */
export class RedisRemoteStream implements StoredStream {
  readonly id: string;
  private mirrored: StreamLog | undefined;

  constructor(
    address: StreamAddress,
    private readonly stream: RemoteStream,
    private readonly tools: RemoteTools,
  ) {
    this.id = streamId(address);
  }

  /** @throws {Error} before {@link enter}. */
  get log(): StreamLog {
    if (this.mirrored === undefined) throw new Error('Enter the stream before you read its log.');
    return this.mirrored;
  }

  async enter(): Promise<() => void> {
    const { keys, generation } = this.stream;
    const leave = await this.tools.slots.enter(keys, generation);
    try {
      const [log, release] = this.tools.mirrors.hold(this.stream);
      this.mirrored = log;
      return once(() => {
        release();
        leave();
      });
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Asks the owner to stop, and waits for the ending. A dead owner is noticed meanwhile. */
  async cancel(): Promise<void> {
    const { owner, keys } = this.stream;
    const [log, release] = this.tools.mirrors.hold(this.stream);
    let unfollow = (): void => undefined;
    try {
      const ended = new Promise<void>((resolve) => {
        const check = (): void => {
          if (log.ending !== undefined) resolve();
        };
        unfollow = log.follow(check);
        check();
        log.begun.catch(() => {
          resolve();
        });
      });
      await orUnavailable(this.tools.cancellations.send(owner, keys.text));
      await withTimeout(
        ended,
        CANCELLED_WITHIN_MS,
        () => new ServiceError('unavailable', 'Try again.', { retryAfterSeconds: 1 }),
      );
    } finally {
      unfollow();
      release();
    }
  }
}
