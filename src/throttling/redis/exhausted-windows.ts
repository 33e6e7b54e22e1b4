import { wholeSeconds } from '../in-process/account-use.js';
import { keyOf, type Limit, type LimitStates } from '../limit-store.js';

const MAX_ACCOUNTS = 10_000;
/** An entry ends this long before its window, because the reply of Redis takes time to arrive. */
const SLACK_MS = 20;

interface ExhaustedWindow {
  readonly limit: Limit;
  readonly states: LimitStates;
  readonly endsAt: number;
}

/**
 * The accounts whose requests are used up until a window ends. They are refused without asking Redis. Only limits that count
 * requests are kept here: slots and reserved tokens can be released at any time. Uses a monotonic clock.
 */
export class ExhaustedWindows {
  private readonly windows = new Map<string, ExhaustedWindow>();

  set(accountId: string, limit: Limit, states: LimitStates, leftMs: number): void {
    if (limit.unit !== 'requests') return;
    const place = placeOf(accountId, limit.key);
    this.windows.delete(place);
    this.windows.set(place, { limit, states, endsAt: performance.now() + leftMs - SLACK_MS });
    if (this.windows.size <= MAX_ACCOUNTS) return;
    for (const oldest of this.windows.keys()) {
      this.windows.delete(oldest);
      return;
    }
  }

  /** Returns the exhausted limit and the last known states, or `undefined` when the limit has changed or the window has ended. */
  get(
    accountId: string,
    limits: readonly Limit[],
  ): { readonly name: string; readonly states: LimitStates } | undefined {
    const key = keyOf(limits);
    const ofAccount = this.at(accountId, limits);
    return ofAccount ?? (key === undefined ? undefined : this.at(placeOf(accountId, key), limits));
  }

  clear(): void {
    this.windows.clear();
  }

  private at(
    place: string,
    limits: readonly Limit[],
  ): { readonly name: string; readonly states: LimitStates } | undefined {
    const window = this.windows.get(place);
    if (window === undefined) return undefined;
    const { limit, states, endsAt } = window;
    const leftMs = endsAt - performance.now();
    const isCurrent = limits.some(({ name, max }) => name === limit.name && max === limit.max);
    const state = states[limit.name];
    if (leftMs <= 0 || !isCurrent || state === undefined) {
      this.windows.delete(place);
      return undefined;
    }
    const resetSeconds = wholeSeconds(leftMs + SLACK_MS);
    return { name: limit.name, states: { ...states, [limit.name]: { ...state, resetSeconds } } };
  }
}

/** An account and each of its API keys have a place of their own. */
function placeOf(accountId: string, key: string | undefined): string {
  return key === undefined ? accountId : `${accountId} ${key}`;
}
