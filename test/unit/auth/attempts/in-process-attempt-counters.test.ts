import { RateLimiterMemory } from 'rate-limiter-flexible';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RateLimiterCounter } from '../../../../src/auth/attempts/in-process-attempt-counters.js';

const WINDOW_SECONDS = 10;

describe('a counter of attempts', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  const counterFor = (points: number) =>
    new RateLimiterCounter(new RateLimiterMemory({ points, duration: WINDOW_SECONDS }));

  async function countAllowed(counter: RateLimiterCounter): Promise<() => Promise<void>> {
    const counted = await counter.count('key');
    if (!counted.allowed) throw new Error('The attempt is refused.');
    return () => counted.withdraw();
  }

  it('refunds an attempt within its window', async () => {
    const counter = counterFor(1);
    const withdraw = await countAllowed(counter);

    await withdraw();

    expect((await counter.count('key')).allowed).toBe(true);
  });

  it('does not take an attempt back from the next window', async () => {
    const counter = counterFor(1);
    const withdraw = await countAllowed(counter);
    vi.advanceTimersByTime((WINDOW_SECONDS + 1) * 1000);
    await countAllowed(counter);

    await withdraw();

    expect((await counter.count('key')).allowed).toBe(false);
  });
});
