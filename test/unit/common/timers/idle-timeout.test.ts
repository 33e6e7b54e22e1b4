import { beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleTimeout } from '../../../../src/common/timers/idle-timeout.js';

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
