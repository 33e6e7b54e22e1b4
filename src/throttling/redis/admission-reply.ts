import { wholeSeconds } from '../in-process/account-use.js';
import type { LimitState, TierLimits } from '../limit-store.js';
import { DAY_MS, startOfDay } from '../../common/utc-day.js';

/** The reply of the script `ADMIT`. Times are by the clock of Redis. */
export interface AdmissionReply {
  readonly outcome: number;
  readonly state: LimitState;
  readonly granted: number;
  /** The start of the current day in UTC, in milliseconds since 1970. */
  readonly day: number;
  /** Milliseconds to the next minute. */
  readonly minuteLeftMs: number;
}

export function readReply(
  reply: unknown,
  { requestsPerMinute, concurrentStreams, tokensPerDay }: TierLimits,
): AdmissionReply {
  const [outcome = 0, requests = 0, minuteLeftMs = 0, streams = 0, tokens = 0, granted = 0, now = 0] =
    reply as readonly number[];
  const day = startOfDay(now);
  const left = (number: number) => Math.max(0, number);
  const state: LimitState = {
    requests: given(requestsPerMinute, (limit) => ({
      limit,
      remaining: left(requests),
      resetSeconds: wholeSeconds(minuteLeftMs),
    })),
    streams: given(concurrentStreams, (limit) => ({ limit, remaining: left(streams) })),
    tokens: given(tokensPerDay, (limit) => ({
      limit,
      remaining: left(tokens),
      resetSeconds: wholeSeconds(day + DAY_MS - now),
      renewsAt: new Date(day + DAY_MS),
    })),
  };
  return { outcome, state, granted, day, minuteLeftMs };
}

function given<T>(limit: number | undefined, state: (limit: number) => T): T | undefined {
  return limit === undefined ? undefined : state(limit);
}
