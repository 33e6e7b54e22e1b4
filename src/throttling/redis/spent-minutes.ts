import { wholeSeconds } from '../in-process/account-use.js';
import type { LimitState } from '../limit-store.js';

const MAX_ACCOUNTS = 10_000;
/** An entry ends this long before its minute, because the reply of Redis takes time to arrive. */
const SLACK_MS = 20;

interface SpentMinute {
  readonly state: LimitState;
  readonly endsAt: number;
}

/** The accounts without a request left in this minute. They are refused without asking Redis. Uses a monotonic clock. */
export class SpentMinutes {
  private readonly minutes = new Map<string, SpentMinute>();

  note(accountId: string, state: LimitState, leftMs: number): void {
    this.minutes.delete(accountId);
    this.minutes.set(accountId, { state, endsAt: performance.now() + leftMs - SLACK_MS });
    if (this.minutes.size <= MAX_ACCOUNTS) return;
    for (const oldest of this.minutes.keys()) {
      this.minutes.delete(oldest);
      return;
    }
  }

  /** Returns the last known state, or `undefined` when requests may be left or the tier's limit has changed. */
  stateOf(accountId: string, limit: number | undefined): LimitState | undefined {
    const minute = this.minutes.get(accountId);
    const leftMs = (minute?.endsAt ?? 0) - performance.now();
    if (minute?.state.requests === undefined || minute.state.requests.limit !== limit || leftMs <= 0) {
      this.minutes.delete(accountId);
      return undefined;
    }
    return { ...minute.state, requests: { ...minute.state.requests, resetSeconds: wholeSeconds(leftMs + SLACK_MS) } };
  }

  clear(): void {
    this.minutes.clear();
  }
}
