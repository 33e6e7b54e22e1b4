import { beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleTimeout, withTimeout } from '../../../../../src/platform/common/timers/timeouts.js';

const LATE = new Error('late');
const late = vi.fn(() => LATE);

describe('work with a time limit', () => {
  let finish: (value: string) => void;
  let fail: (error: Error) => void;
  let work: Promise<string>;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    late.mockClear();
    work = new Promise((resolve, reject) => {
      [finish, fail] = [resolve, reject];
    });
  });

  it.each([0, 999])('has its outcome after %d ms of 1,000, and leaves no timer', async (ms) => {
    const outcome = withTimeout(work, 1_000, late);
    await vi.advanceTimersByTimeAsync(ms);
    finish('done');
    expect(await outcome).toBe('done');
    expect([vi.getTimerCount(), late.mock.calls.length]).toEqual([0, 0]);
  });

  it('fails as it does, and leaves no timer', async () => {
    const outcome = withTimeout(work, 1_000, late);
    fail(new Error('broken'));
    await expect(outcome).rejects.toThrow('broken');
    expect([vi.getTimerCount(), late.mock.calls.length]).toEqual([0, 0]);
  });

  it('is late after the limit, not earlier, and whatever it does then', async () => {
    const outcome = withTimeout(work, 1_000, late).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(999);
    expect(late).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toBe(LATE);
    finish('done');
    await vi.advanceTimersByTimeAsync(1_000);
    expect([vi.getTimerCount(), late.mock.calls.length]).toEqual([0, 1]);
  });
});

describe('an idle timeout', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  const started = (limitMs: number, counts = () => true) => {
    const onIdle = vi.fn();
    return { onIdle, timer: new IdleTimeout(limitMs, counts, onIdle) };
  };

  it('notifies each time nothing happens for the limit, measured from the last activity', () => {
    const { onIdle, timer } = started(100);
    vi.advanceTimersByTime(90);
    timer.restart(100);
    vi.advanceTimersByTime(90);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(20);
    expect(onIdle).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(onIdle).toHaveBeenCalledTimes(2);
    timer.stop();
  });

  it('applies a shorter limit at once, with one timer', () => {
    const { onIdle, timer } = started(10_000);
    timer.restart(100);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(110);
    expect(onIdle).toHaveBeenCalledTimes(1);
    timer.stop();
  });

  it('starts again when the missing activity has another cause', () => {
    let counts = false;
    const { onIdle, timer } = started(100, () => counts);
    vi.advanceTimersByTime(110);
    counts = true;
    vi.advanceTimersByTime(80);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(30);
    expect(onIdle).toHaveBeenCalledTimes(1);
    timer.stop();
  });

  it('leaves no timer when it is stopped, also in its own callback', () => {
    const { timer } = started(100);
    timer.stop();
    timer.restart(10);
    expect(vi.getTimerCount()).toBe(0);
    const other: IdleTimeout = new IdleTimeout(
      100,
      () => true,
      () => {
        other.stop();
      },
    );
    vi.advanceTimersByTime(500);
    expect(vi.getTimerCount()).toBe(0);
  });
});
