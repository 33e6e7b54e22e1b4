import {
  AttemptCounters,
  type AttemptCounter,
  type AttemptLimit,
  type AttemptMemory,
} from '../../../src/auth/attempts/attempt-counters.js';

/** Allows each attempt, except at the refused limits. Records all calls in order. */
export class RecordedCounters extends AttemptCounters {
  readonly limits: AttemptLimit[] = [];
  readonly memories: [name: string, forSeconds: number][] = [];
  readonly calls: string[] = [];
  readonly keys = new Map<string, string>();
  readonly known = new Set<string>();
  readonly refused = new Map<string, number>();

  override counter(limit: AttemptLimit): AttemptCounter {
    const { name } = limit;
    this.limits.push(limit);
    return {
      count: async (key) => {
        await Promise.resolve();
        this.keys.set(name, key);
        const retryAfterMs = this.refused.get(name);
        this.calls.push(`${retryAfterMs === undefined ? 'count' : 'refuse'} ${name}`);
        if (retryAfterMs !== undefined) return { allowed: false, retryAfterMs };
        return { allowed: true, withdraw: () => this.later(`withdraw ${name}`) };
      },
    };
  }

  override memory(name: string, forSeconds: number): AttemptMemory {
    this.memories.push([name, forSeconds]);
    return {
      has: (key) => Promise.resolve(this.known.has(key)),
      add: async (key) => {
        await this.later(`remember ${name}`);
        this.known.add(key);
      },
    };
  }

  /** Takes the calls since the last time. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  /** Records the call some turns later, so that a caller that does not wait is noticed. */
  private async later(call: string): Promise<void> {
    await new Promise(setImmediate);
    this.calls.push(call);
  }
}
