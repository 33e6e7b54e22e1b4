import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Rounds } from '../../../../src/common/timers/rounds.js';

describe('rounds', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it('begin each time after the time that the round before has returned', async () => {
    const delays = [10, 1_000];
    let count = 0;
    const rounds = new Rounds(() => {
      count += 1;
      return Promise.resolve(delays.shift() ?? 5);
    });
    rounds.start(100);
    await vi.advanceTimersByTimeAsync(99);
    expect(count).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(10);
    expect(count).toBe(2);
    await vi.advanceTimersByTimeAsync(999);
    expect(count).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(count).toBe(3);
    await rounds.stop();
  });

  it('begin no more when they are stopped during a round, whose end is awaited', async () => {
    let end: (delayMs: number) => void = () => undefined;
    let count = 0;
    const rounds = new Rounds(() => {
      count += 1;
      return new Promise((resolve) => (end = resolve));
    });
    rounds.start(0);
    await vi.advanceTimersByTimeAsync(0);
    let isStopped = false;
    const stopped = rounds.stop().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    end(0);
    await stopped;
    rounds.start(0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(count).toBe(1);
  });
});
