import { describe, expect, it } from 'vitest';
import { countAll, keyOf, type AttemptCounter } from '../../../../src/auth/attempts/attempt-counters.js';
import { RateLimiterCounter } from '../../../../src/auth/attempts/in-process-attempt-counters.js';
import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';

/** Counters that allow each attempt, except the refused ones. Records all calls in order. */
class RecordedCounters {
  readonly calls: string[] = [];
  readonly refused = new Map<string, number>();

  counter(name: string): AttemptCounter {
    return {
      count: async () => {
        await Promise.resolve();
        const retryAfterMs = this.refused.get(name);
        this.calls.push(`${retryAfterMs === undefined ? 'count' : 'refuse'} ${name}`);
        if (retryAfterMs !== undefined) return { allowed: false, retryAfterMs };
        return { allowed: true, withdraw: () => this.later(`withdraw ${name}`) };
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

describe('an attempt that several limits count', () => {
  const refusalAfter = (retryAfterMs: number) => {
    const counters = new RecordedCounters();
    counters.refused.set('second', retryAfterMs);
    const names = ['first', 'second', 'third'];
    return {
      counters,
      counting: countAll(names.map((name) => [counters.counter(name), 'key'] as const)),
    };
  };

  it('is counted by none of them after one refuses', async () => {
    const { counters, counting } = refusalAfter(5000);
    await expect(counting).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(/too many attempts.*later/i) as string,
    });
    expect(counters.calls).toEqual(['count first', 'refuse second', 'withdraw first']);
  });

  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [59_999, 60],
  ])('may be repeated after whole seconds: %i ms are %i s', async (retryAfterMs, retryAfterSeconds) => {
    const { counting } = refusalAfter(retryAfterMs);
    await expect(counting).rejects.toMatchObject({ retryAfterSeconds });
  });

  it('is withdrawn from the chosen counters only, or from all', async () => {
    const counters = new RecordedCounters();
    const [first, second] = ['first', 'second'].map((name) => counters.counter(name)) as [
      AttemptCounter,
      AttemptCounter,
    ];
    const withdraw = await countAll([
      [first, 'key'],
      [second, 'key'],
    ]);
    counters.takeCalls();
    await withdraw(new Set([second]));
    expect(counters.takeCalls()).toEqual(['withdraw second']);
    await withdraw(new Set());
    expect(counters.takeCalls()).toEqual([]);
    await withdraw();
    expect(counters.takeCalls()).toEqual(['withdraw first', 'withdraw second']);
  });

  it('has keys that are hashes of 22 characters', () => {
    expect(keyOf('a')).toBe('ypeBEsobvcr6wjGzmiPcTa');
  });
});

describe('a counter of rate-limiter-flexible', () => {
  const counterOf = (limiter: Partial<RateLimiterAbstract>) => new RateLimiterCounter(limiter as RateLimiterAbstract);
  const windowWith = (consumedPoints: number) => new RateLimiterRes(1, 1000, consumedPoints, false);

  const windows: [string, RateLimiterRes | null, string[]][] = [
    ['of a window that is over', null, []],
    ['of a window without attempts', windowWith(0), []],
    ['of a window with attempts', windowWith(1), ['key']],
  ];
  const rewarding = (rewarded: unknown[], window: RateLimiterRes | null): Partial<RateLimiterAbstract> => ({
    get: () => Promise.resolve(window),
    reward: async (key) => {
      await new Promise(setImmediate);
      rewarded.push(key);
      return windowWith(0);
    },
  });

  it.each(windows)('refunds an attempt %s only if it is counted there', async (_, window, expected) => {
    const rewarded: unknown[] = [];
    const counter = counterOf({ ...rewarding(rewarded, window), consume: () => Promise.resolve(windowWith(1)) });
    const counted = await counter.count('key');
    expect(rewarded).toEqual([]);
    if (counted.allowed) await counted.withdraw();
    expect(rewarded).toEqual(expected);
  });

  it.each(windows)(
    'does not keep a refused attempt %s, and says how long it must wait',
    async (_, window, expected) => {
      const rewarded: unknown[] = [];
      // The library rejects with an object that is not an error.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      const consume = () => Promise.reject(new RateLimiterRes(0, 1234, 6, false));
      const counter = counterOf({ ...rewarding(rewarded, window), consume });
      expect(await counter.count('key')).toEqual({ allowed: false, retryAfterMs: 1234 });
      expect(rewarded).toEqual(expected);
    },
  );

  it('refunds a point that came too late for its window', async () => {
    const points: string[] = [];
    const counter = counterOf({
      consume: () => Promise.resolve(windowWith(1)),
      get: () => Promise.resolve(windowWith(1)),
      reward: () => Promise.resolve(windowWith(-1)),
      penalty: (key) => {
        points.push(String(key));
        return Promise.resolve(windowWith(0));
      },
    });
    const counted = await counter.count('key');
    if (counted.allowed) await counted.withdraw();
    expect(points).toEqual(['key']);
  });

  it('does not read a failure of the store as a refusal', async () => {
    const counter = counterOf({ consume: () => Promise.reject(new Error('away')) });
    await expect(counter.count('key')).rejects.toThrow('away');
  });
});
