import { resetAfter } from '../in-process/account-use.js';
import { bucketOf, subjectsOf, type Limit, type LimitStates } from '../limit-store.js';

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
    const bucket = bucketOf(accountId, limit.key);
    this.windows.delete(bucket);
    this.windows.set(bucket, { limit, states, endsAt: performance.now() + leftMs - SLACK_MS });
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
    for (const key of subjectsOf(limits)) {
      const exhausted = this.at(bucketOf(accountId, key), limits);
      if (exhausted !== undefined) return exhausted;
    }
    return undefined;
  }

  clear(): void {
    this.windows.clear();
  }

  private at(
    bucket: string,
    limits: readonly Limit[],
  ): { readonly name: string; readonly states: LimitStates } | undefined {
    const window = this.windows.get(bucket);
    if (window === undefined) return undefined;
    const { limit, states, endsAt } = window;
    const leftMs = endsAt - performance.now();
    const isCurrent = limits.some(({ name, max }) => name === limit.name && max === limit.max);
    const state = states[limit.name];
    if (leftMs <= 0 || !isCurrent || state === undefined) {
      this.windows.delete(bucket);
      return undefined;
    }
    const reset = resetAfter(leftMs + SLACK_MS);
    return { name: limit.name, states: { ...states, [limit.name]: { ...state, ...reset } } };
  }
}
