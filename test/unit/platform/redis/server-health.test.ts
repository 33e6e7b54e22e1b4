import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FlapDamping } from '../../../../src/platform/redis/server-health.js';

const FLAP_WINDOW_MS = 10_000;

let damping: FlapDamping;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  damping = new FlapDamping();
});

/** The server comes back, refuses a command so much later, and is tried again after the delay that this returns. */
function flap(afterMs: number): number {
  damping.recovered();
  vi.advanceTimersByTime(afterMs);
  damping.refused();
  let waitedMs = 0;
  for (; damping.isWaiting; waitedMs += 500) vi.advanceTimersByTime(500);
  return waitedMs;
}

describe('the return of a server that soon refuses a command again', () => {
  it('is delayed by twice the time after each refusal, but by a minute at most', () => {
    const delays = Array.from({ length: 9 }, () => flap(0));
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  });

  it('is not delayed when the server has worked for ten seconds', () => {
    expect(flap(FLAP_WINDOW_MS)).toBe(0);
    expect(flap(FLAP_WINDOW_MS - 1)).toBe(1_000);
  });

  it('is delayed again when the server has worked for less than the last delay and ten seconds', () => {
    expect([flap(0), flap(FLAP_WINDOW_MS + 999)]).toEqual([1_000, 2_000]);
    expect(flap(FLAP_WINDOW_MS + 2_000)).toBe(0);
  });
});
