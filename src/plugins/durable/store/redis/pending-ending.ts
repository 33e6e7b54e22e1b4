import { elapsedMs, startTimer } from '../../../../plugin-api/core/common.js';
import type { Ending, StreamLog } from '../../log/stream-log.js';
import { INTERRUPTED } from './redis-stream-tools.js';

/** How long the ending waits for Redis. A failover takes less. */
const LIMIT_MS = 10_000;
/** How long the ending waits if Redis may have it already. */
const UNKNOWN_LIMIT_MS = 30_000;

/**
 * The ending of a stream on its way to Redis. The readers get it when Redis has taken it. If Redis is unavailable for too long, all
 * readers get `interrupted`, and Redis gets this ending later. If Redis may have the ending already, the readers are disconnected, so
 * that they come again for it.
 */
export class PendingEnding {
  /** The ending to write. `undefined` while the stream runs. */
  ending: Ending | undefined;
  /** Whether Redis may have the ending, because no reply has arrived. */
  isSent = false;
  /** When the readers got the ending, by the monotonic clock. */
  toldAt = Infinity;
  private limit: NodeJS.Timeout | undefined;
  private resolve: (ending: Ending | undefined) => void = () => undefined;

  constructor(private readonly log: StreamLog) {}

  /**
   * Resolves with the ending that the stream has. If that stays unknown for too long, the readers are disconnected, and this waits for
   * Redis. `undefined`: it stays unknown.
   */
  begin(ending: Ending): Promise<Ending | undefined> {
    if (this.toldAt !== Infinity) return Promise.resolve(this.log.ending);
    this.ending = ending;
    this.limit = startTimer(() => {
      this.giveUp();
    }, LIMIT_MS);
    return new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** Gives the readers their ending, unless they have one. */
  tell(ending: Ending): void {
    if (this.toldAt === Infinity) {
      this.toldAt = elapsedMs();
      this.log.end(ending);
    }
    this.stop(ending);
  }

  /** Waits for nothing more. */
  stop(ending?: Ending): void {
    clearTimeout(this.limit);
    this.resolve(ending);
  }

  private giveUp(): void {
    if (this.isSent) {
      this.limit = startTimer(() => {
        this.toldAt = elapsedMs();
        this.log.disconnect();
      }, UNKNOWN_LIMIT_MS - LIMIT_MS);
    } else {
      this.ending = INTERRUPTED;
      this.tell(INTERRUPTED);
    }
  }
}
