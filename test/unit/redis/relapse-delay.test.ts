import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RelapseDelay } from '../../../src/redis/relapse-delay.js';

const RELAPSE_WITHIN_MS = 10_000;

let delay: RelapseDelay;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  delay = new RelapseDelay();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The server comes back, refuses a command so much later, and is tried again after the delay that this returns. */
function relapse(afterMs: number): number {
  delay.cameBack();
  vi.advanceTimersByTime(afterMs);
  delay.refused();
  let waitedMs = 0;
  for (; delay.isWaiting; waitedMs += 500) vi.advanceTimersByTime(500);
  return waitedMs;
}

describe('the return of a server that soon refuses a command again', () => {
  it('is delayed by twice the time after each refusal, but by a minute at most', () => {
    const delays = Array.from({ length: 9 }, () => relapse(0));
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  });

  it('is not delayed when the server has worked for ten seconds', () => {
    expect(relapse(RELAPSE_WITHIN_MS)).toBe(0);
    expect(relapse(RELAPSE_WITHIN_MS - 1)).toBe(1_000);
  });

  it('is delayed again when the server has worked for less than the last delay and ten seconds', () => {
    expect([relapse(0), relapse(RELAPSE_WITHIN_MS + 999)]).toEqual([1_000, 2_000]);
    expect(relapse(RELAPSE_WITHIN_MS + 2_000)).toBe(0);
  });
});
