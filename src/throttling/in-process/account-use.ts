import { MINUTE_MS } from '../../platform/common/clock.js';
import { periodOf } from '../../platform/config/limits/budget.js';
import type { Limit, LimitState, LimitStates } from '../limit-store.js';

/** What was counted in the current window of a limit. */
interface WindowCount {
  used: number;
  endsAt: number;
  /** The part of `used` that the ledger had recorded for all replicas. `undefined`: the ledger was not queried. */
  seed: number | undefined;
}

/** What remains of a limit, and the end of its current window. */
export interface Balance {
  readonly limit: Limit;
  readonly endsAt: number;
  remaining: number;
}

/** The use of limits by one account, counted in this process. */
export class AccountUse {
  /** The units that are held now. */
  readonly held = { requests: 0, streams: 0, tokens: 0 };
  private readonly windows = new Map<string, WindowCount>();
  /** When the last of the windows ends. */
  private lastEnd = 0;

  /** Whether the tokens that were used before this process began to count are known for the current window. */
  isSeeded(limit: Limit, now: number): boolean {
    return this.current(limit, now)?.seed !== undefined;
  }

  /** Sets what the ledger has recorded for the current window. It may include tokens that were counted here meanwhile. */
  seed(limit: Limit, used: number, now: number): void {
    const window = this.begin(limit, now);
    window.seed = used;
    window.used = Math.max(window.used, used);
  }

  /** Makes the recorded tokens unknown again, because other replicas may have used tokens that are not counted here. */
  removeSeeds(): void {
    for (const window of this.windows.values()) window.seed = undefined;
  }

  /** @param amount a negative amount takes back what was counted in the same window. */
  count(limit: Limit, amount: number, now: number): void {
    const window = this.begin(limit, now);
    window.used = Math.max(0, window.used + amount);
  }

  /**
   * Returns what remains of each limit. The tokens that were used before this process began to count are subtracted from the
   * whole limit. The replicas share the rest.
   *
   * @param replicas how many processes share the limits, while none of them knows what the others use.
   */
  balances(limits: readonly Limit[], replicas: number, now: number): Balance[] {
    return limits.map((limit) => {
      const window = this.current(limit, now);
      const seed = window?.seed ?? 0;
      const share = replicas === 1 ? limit.max - seed : Math.ceil(Math.max(0, limit.max - seed) / replicas);
      const remaining = Math.max(0, share - ((window?.used ?? 0) - seed) - this.held[limit.unit]);
      return { limit, endsAt: window?.endsAt ?? endOf(limit, now), remaining };
    });
  }

  /** Whether this object can be removed without loss. With `exceptDays`, counts of the day may be lost: the ledger has them. */
  isIdle(now: number, exceptDays: boolean): boolean {
    if (this.held.streams > 0 || this.held.tokens > 0) return false;
    if (now >= this.lastEnd || !exceptDays) return now >= this.lastEnd;
    for (const { endsAt } of this.windows.values()) if (now < endsAt && endsAt <= now + MINUTE_MS) return false;
    return true;
  }

  private current(limit: Limit, now: number): WindowCount | undefined {
    const window = this.windows.get(limit.name);
    return window !== undefined && now < window.endsAt ? window : undefined;
  }

  private begin(limit: Limit, now: number): WindowCount {
    let window = this.current(limit, now);
    if (window === undefined) {
      window = { used: 0, endsAt: endOf(limit, now), seed: undefined };
      this.windows.set(limit.name, window);
      this.lastEnd = Math.max(this.lastEnd, window.endsAt);
    }
    return window;
  }
}

/** When a window ends that begins now. */
function endOf({ window }: Limit, now: number): number {
  return window === 'day' || window === 'month' ? periodOf(window, now).until : now + MINUTE_MS;
}

export function statesOf(balances: readonly Balance[], now: number): LimitStates {
  const states: Record<string, LimitState> = {};
  for (const { limit, remaining, endsAt } of balances) {
    states[limit.name] = stateOf(limit, remaining, endsAt - now);
  }
  return states;
}

/** @param leftMs the time to the end of the window. */
export function stateOf({ window, max }: Limit, remaining: number, leftMs: number): LimitState {
  return { limit: max, remaining, ...(window !== 'none' && resetAfter(leftMs)) };
}

/** Returns the time to the end of a window, which is never zero. */
export function resetAfter(ms: number): Required<Pick<LimitState, 'resetSeconds' | 'resetMs'>> {
  return { resetSeconds: Math.max(1, Math.ceil(ms / 1000)), resetMs: Math.max(1, Math.ceil(ms)) };
}
