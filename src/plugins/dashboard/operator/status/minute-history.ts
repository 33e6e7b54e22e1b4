import { MINUTE_MS } from '../../../../plugin-api/core/common.js';

/** What happened in one minute. */
export interface MinuteCounts {
  /** Minutes since 1970. */
  readonly minute: number;
  /** Finished requests of all kinds. */
  readonly requests: number;
  /** Errors for which a provider or the service is responsible. */
  readonly errors: number;
  /** Requests that a limit has refused, and work that was refused to protect other callers. */
  readonly refused: number;
  /** The open streams at the end of the minute. */
  readonly openStreams: number;
}

/** Counts since the start, and the present number of open streams. */
export type Totals = Omit<MinuteCounts, 'minute'>;

/** The number of minutes that are kept, besides the present one. */
export const KEPT_MINUTES = 60;

/** The last 60 minutes in numbers. It keeps one small entry for each minute. */
export class MinuteHistory {
  private readonly kept: MinuteCounts[] = [];
  private before: Totals;
  private minute: number;

  constructor(totals: Totals, now: number) {
    this.before = totals;
    this.minute = Math.floor(now / MINUTE_MS);
  }

  /** Ends the present minute, if it is over. What happened since the last call counts for the minute of that call. */
  tick(totals: Totals, now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === this.minute) return;
    this.kept.push(this.present(totals));
    this.before = totals;
    this.minute = minute;
    while ((this.kept[0]?.minute ?? minute) < minute - KEPT_MINUTES || this.kept.length > KEPT_MINUTES)
      this.kept.shift();
  }

  /** Returns the kept minutes and the present one so far, the oldest first. A minute without an entry was not measured. */
  minutes(totals: Totals, now: number): readonly MinuteCounts[] {
    this.tick(totals, now);
    return [...this.kept, this.present(totals)];
  }

  private present({ requests, errors, refused, openStreams }: Totals): MinuteCounts {
    return {
      minute: this.minute,
      requests: requests - this.before.requests,
      errors: errors - this.before.errors,
      refused: refused - this.before.refused,
      openStreams,
    };
  }
}
