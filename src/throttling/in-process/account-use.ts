import type { LimitName, LimitState, TierLimits, TokenDemand } from '../limit-store.js';
import { DAY_MS, startOfDay } from '../../common/utc-day.js';

const MINUTE_MS = 60_000;

/** The use of limits by one account, counted in this process. */
export class AccountUse {
  streams = 0;
  tokensReserved = 0;
  private requests = 0;
  /** The minute begins with its first request. */
  private minuteEndsAt = 0;
  private day = -1;
  private tokensUsed = 0;
  private tokensLearnt: number | undefined;

  /** Whether the tokens that were used earlier on this day are known. */
  knowsTokens(now: number): boolean {
    return this.day === startOfDay(now) && this.tokensLearnt !== undefined;
  }

  /** Sets the tokens that the ledger has recorded for this day. They may include tokens that were counted here meanwhile. */
  learnTokens(used: number, now: number): void {
    this.beginDay(now);
    this.tokensLearnt = used;
    this.tokensUsed = Math.max(this.tokensUsed, used);
  }

  /** Makes the used tokens unknown again, because other replicas may have used tokens that are not counted here. */
  forgetLearntTokens(): void {
    this.tokensLearnt = undefined;
  }

  addTokens(used: number, now: number): void {
    this.beginDay(now);
    this.tokensUsed += used;
  }

  /** Returns the limit that refuses a request. When several limits refuse, returns the limit with the longest wait. */
  refusedBy(state: LimitState, tokens: TokenDemand): LimitName | undefined {
    if (state.tokens !== undefined && state.tokens.remaining < tokens.atLeast) return 'tokens';
    if (state.requests?.remaining === 0) return 'requests';
    return state.streams?.remaining === 0 ? 'streams' : undefined;
  }

  countRequest(now: number): void {
    if (now >= this.minuteEndsAt) {
      this.minuteEndsAt = now + MINUTE_MS;
      this.requests = 0;
    }
    this.requests += 1;
  }

  /** @param replicas how many processes share the limits, while none of them knows what the others use. */
  state({ requestsPerMinute, concurrentStreams, tokensPerDay }: TierLimits, replicas: number, now: number): LimitState {
    const share = (limit: number) => Math.ceil(limit / replicas);
    const isMinuteOver = now >= this.minuteEndsAt;
    return {
      requests:
        requestsPerMinute === undefined
          ? undefined
          : {
              limit: requestsPerMinute,
              remaining: Math.max(0, share(requestsPerMinute) - (isMinuteOver ? 0 : this.requests)),
              resetSeconds: isMinuteOver ? MINUTE_MS / 1000 : wholeSeconds(this.minuteEndsAt - now),
            },
      streams:
        concurrentStreams === undefined
          ? undefined
          : {
              limit: concurrentStreams,
              remaining: Math.max(0, share(concurrentStreams) - this.streams),
            },
      tokens:
        tokensPerDay === undefined
          ? undefined
          : {
              limit: tokensPerDay,
              remaining: Math.max(0, this.tokensLeft(tokensPerDay, share, now)),
              resetSeconds: wholeSeconds(startOfDay(now) + DAY_MS - now),
              renewsAt: new Date(startOfDay(now) + DAY_MS),
            },
    };
  }

  /** Whether this object can be removed without loss. With `exceptTokens`, the count of used tokens may be lost. */
  isIdle(now: number, exceptTokens: boolean): boolean {
    if (this.streams > 0 || this.tokensReserved > 0 || now < this.minuteEndsAt) return false;
    return exceptTokens || this.day !== startOfDay(now);
  }

  /**
   * The tokens that were used before this process began to count are subtracted from the whole limit. The replicas share
   * the rest.
   */
  private tokensLeft(limit: number, share: (limit: number) => number, now: number): number {
    const isToday = this.day === startOfDay(now);
    const learnt = isToday ? (this.tokensLearnt ?? 0) : 0;
    const usedHere = (isToday ? this.tokensUsed : 0) - learnt;
    return share(Math.max(0, limit - learnt)) - usedHere - this.tokensReserved;
  }

  private beginDay(now: number): void {
    const day = startOfDay(now);
    if (this.day === day) return;
    this.day = day;
    this.tokensUsed = 0;
    this.tokensLearnt = undefined;
  }
}

export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
