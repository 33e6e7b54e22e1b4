import { resetAfter } from '../in-process/account-use.js';
import type { Limit, LimitState, LimitStates } from '../limit-store.js';
import { ADMITTED, UNSEEDED } from './account-scripts.js';

/** The reply of the script `ADMIT`. Times are by the clock of Redis. */
export interface AdmissionReply {
  /**
   * Whose tokens of the day or the month are not known yet: 0 for the account, n for the nth key. `undefined`: all that is needed is
   * known.
   */
  readonly unseeded: number | undefined;
  /** The limit that refuses the request. `undefined`: the request is admitted. */
  readonly refusedBy: Limit | undefined;
  readonly granted: number;
  /** The time of Redis, in milliseconds since 1970. */
  readonly now: number;
  readonly states: LimitStates;
  /** Milliseconds to the end of the window of the limit that refuses the request. */
  readonly windowLeftMs: number;
}

export function readReply(reply: unknown, limits: readonly Limit[]): AdmissionReply {
  const numbers = reply as readonly number[];
  const [outcome = ADMITTED, granted = 0, now = 0] = numbers;
  const states: Record<string, LimitState> = {};
  let next = 3;
  for (const { name, window, max } of limits) {
    const remaining = Math.max(0, numbers[next] ?? 0);
    const end = numbers[next + 1] ?? 0;
    states[name] = window === 'none' ? { limit: max, remaining } : { limit: max, remaining, ...resetAfter(end - now) };
    next += 2;
  }
  return {
    unseeded: outcome === UNSEEDED ? granted - 1 : undefined,
    refusedBy: limits[outcome - 1],
    granted,
    now,
    states,
    windowLeftMs: (numbers[2 * outcome + 2] ?? now) - now,
  };
}
