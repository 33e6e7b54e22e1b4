import { beforeEach, describe, expect, it, vi } from 'vitest';
import { withTimeout } from '../../../../src/common/timers/with-timeout.js';

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
