import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SilenceTimer } from '../../src/common/timers/silence-timer.js';

describe('a timer of silence', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const started = (limitMs: number, counts = () => true) => {
    const onSilent = vi.fn();
    return { onSilent, timer: new SilenceTimer(limitMs, counts, onSilent) };
  };

  it('tells of each silence, from the last sign of life on', () => {
    const { onSilent, timer } = started(100);
    vi.advanceTimersByTime(90);
    timer.allow(100);
    vi.advanceTimersByTime(90);
    expect(onSilent).not.toHaveBeenCalled();
    vi.advanceTimersByTime(20);
    expect(onSilent).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(onSilent).toHaveBeenCalledTimes(2);
    timer.stop();
  });

  it('takes a shorter limit at once, with one timer', () => {
    const { onSilent, timer } = started(10_000);
    timer.allow(100);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(110);
    expect(onSilent).toHaveBeenCalledTimes(1);
    timer.stop();
  });

  it('starts over where the silence is of somebody else', () => {
    let counts = false;
    const { onSilent, timer } = started(100, () => counts);
    vi.advanceTimersByTime(110);
    counts = true;
    vi.advanceTimersByTime(80);
    expect(onSilent).not.toHaveBeenCalled();
    vi.advanceTimersByTime(30);
    expect(onSilent).toHaveBeenCalledTimes(1);
    timer.stop();
  });

  it('leaves no timer when it is stopped, before a silence or while it tells of one', () => {
    const { timer } = started(100);
    timer.stop();
    timer.allow(10);
    expect(vi.getTimerCount()).toBe(0);
    const other: SilenceTimer = new SilenceTimer(
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
