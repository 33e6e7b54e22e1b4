import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  elapsedMs,
  realMs,
  sleep,
  startInterval,
  startTimer,
  timeoutSignal,
  usePace,
} from '../../../../../src/platform/common/timers/pace.js';

const endings: (() => void)[] = [];
const use = (pace: number) => {
  const end = usePace(pace);
  endings.push(end);
  return end;
};

describe('the pace of the timers', () => {
  afterEach(() => {
    for (const end of endings.splice(0)) end();
  });

  it('divides the times of timers, intervals and waits', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    use(20);
    const [timer, tick, woken] = [vi.fn(), vi.fn(), vi.fn()];
    startTimer(timer, 10_000);
    const interval = startInterval(tick, 2_000);
    void sleep(10_000).then(woken);
    await vi.advanceTimersByTimeAsync(499);
    expect([timer, tick, woken].map(({ mock }) => mock.calls.length)).toEqual([0, 4, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect([timer, tick, woken].map(({ mock }) => mock.calls.length)).toEqual([1, 5, 1]);
    clearInterval(interval);
  });

  it('divides the time of a signal', async () => {
    use(100);
    const signal = timeoutSignal(2_000);
    await vi.waitFor(() => {
      expect(signal.aborted).toBe(true);
    });
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('multiplies the elapsed time, which never jumps', () => {
    let now = Math.ceil(performance.now());
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const begin = elapsedMs();
    const end = use(20);
    expect(elapsedMs()).toBe(begin);
    now += 500;
    expect(elapsedMs()).toBe(begin + 10_000);
    end();
    now += 500;
    expect(elapsedMs()).toBe(begin + 10_500);
  });

  it('is the one that was set last of those in use, and else 1', () => {
    const ends = [use(10), use(20), use(10)];
    expect(realMs(1_000)).toBe(100);
    ends[2]?.();
    expect(realMs(1_000)).toBe(50);
    ends[0]?.();
    expect(realMs(1_000)).toBe(50);
    ends[1]?.();
    expect(realMs(1_000)).toBe(1_000);
  });
});

describe('a wait', () => {
  it('ends early when its signal aborts, and leaves no timer and no listener', async () => {
    vi.useFakeTimers();
    const aborter = new AbortController();
    const waiting = sleep(10_000, { signal: aborter.signal });
    aborter.abort();
    await waiting;
    await sleep(10_000, { signal: aborter.signal });
    expect(vi.getTimerCount()).toBe(0);
  });
});
