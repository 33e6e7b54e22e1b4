import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { MINUTE_MS, ServiceError } from '../../plugin-api/core/common.js';
import { setHeaders } from '../../plugin-api/core/throttling.js';

/** How many bytes of kept streams each account may read again per minute, from one process. */
export const REPLAYED_BYTES_PER_MINUTE = 64 * 1024 * 1024;
/** Each replay counts at least this many bytes, because a request has a cost of its own. */
const MIN_REPLAY_BYTES = 4 * 1024;

/**
 * Limits how much text of kept streams each account reads again from this process. A replay is refused when the account has
 * used up its bytes of the minute, and runs to its end otherwise. What a replay reads above them counts for the next minutes.
 */
@Injectable()
export class ReplayRate {
  /** The bytes of the current minute, and what is left over from the minutes before. */
  private readonly used = new Map<string, number>();
  private minuteEndsAt = 0;

  /**
   * Begins a replay.
   *
   * @returns a function to call with the number of bytes that the replay has read.
   * @throws {ServiceError} `rate_limit_exceeded` when the bytes of the minute are used up. The headers `X-RateLimit-*` of the response
   *   then show the rate in bytes.
   */
  begin(accountId: string, response: Response): (bytes: number) => void {
    this.startMinute();
    const used = this.used.get(accountId) ?? 0;
    if (used >= REPLAYED_BYTES_PER_MINUTE) throw this.refusal(used, response);
    let unspent = -MIN_REPLAY_BYTES;
    this.spend(accountId, MIN_REPLAY_BYTES);
    return (bytes) => {
      unspent += bytes;
      if (unspent <= 0) return;
      this.spend(accountId, unspent);
      unspent = 0;
    };
  }

  private spend(accountId: string, bytes: number): void {
    this.startMinute();
    this.used.set(accountId, (this.used.get(accountId) ?? 0) + bytes);
  }

  /** Takes the bytes of each minute that is over from the used bytes. */
  private startMinute(): void {
    const now = performance.now();
    if (now < this.minuteEndsAt) return;
    const minutes = Math.floor((now - this.minuteEndsAt) / MINUTE_MS) + 1;
    this.minuteEndsAt += minutes * MINUTE_MS;
    for (const [accountId, used] of this.used) {
      const rest = used - minutes * REPLAYED_BYTES_PER_MINUTE;
      if (rest > 0) this.used.set(accountId, rest);
      else this.used.delete(accountId);
    }
  }

  private refusal(used: number, response: Response): ServiceError {
    const minutesMore = Math.floor(used / REPLAYED_BYTES_PER_MINUTE) - 1;
    const waitMs = this.minuteEndsAt - performance.now() + minutesMore * MINUTE_MS;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    const state = { limit: REPLAYED_BYTES_PER_MINUTE, remaining: 0, resetSeconds: retryAfterSeconds };
    response.req.context.refusedBy = 'replays';
    setHeaders(response, 'X-RateLimit', '', state);
    const mebibytes = REPLAYED_BYTES_PER_MINUTE / 1024 / 1024;
    return new ServiceError(
      'rate_limit_exceeded',
      `An account can read at most ${mebibytes} MiB of kept streams again per minute.`,
      {
        retryAfterSeconds,
      },
    );
  }
}
