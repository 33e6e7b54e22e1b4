import { afterEach, describe, expect, it, vi } from 'vitest';
import { InProcessAttemptCounters } from '../../../src/auth/attempts/in-process-attempt-counters.js';
import { describeAttemptCounters } from './describe-attempt-counters.js';

const DAY_MS = 86_400_000;

describeAttemptCounters(
  'in a process',
  () => Promise.resolve({ counters: new InProcessAttemptCounters(), close: () => Promise.resolve() }),
  1,
);

describe('attempts counted in a process', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('are remembered for as long as they should, which is longer than a timer can run', async () => {
    vi.useFakeTimers();
    const memory = new InProcessAttemptCounters().memory('known', 30 * 86_400);
    await memory.add('ada');
    await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
    expect(await memory.has('ada')).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(await memory.has('ada')).toBe(false);
  });

  it('do not use up the limits of other keys, although all share a bounded number of counters', async () => {
    vi.stubGlobal('setTimeout', () => ({ unref: () => undefined }));
    const attempts = 3;
    const counter = new InProcessAttemptCounters().counter({ name: 'x', attempts, withinSeconds: 60 });
    for (let n = 0; n < 60 * attempts; n++) await counter.count(`spent ${n % 60}`);
    let refused = 0;
    for (let n = 0; n < 20_000; n++) {
      const counted = await counter.count(`other ${n}`);
      if (counted.allowed) await counted.withdraw();
      else refused++;
    }
    // In one table of as many counters in all, about nine would be refused. In two, it is one in sixty runs.
    expect(refused).toBeLessThanOrEqual(1);
    expect(await counter.count('spent 0')).toMatchObject({ allowed: false });
  });

  it('take a bounded amount of memory, whatever is sent', async () => {
    // Each counter has a timer that removes it.
    let timers = 0;
    vi.stubGlobal('setTimeout', () => {
      timers++;
      return { unref: () => undefined };
    });
    const counter = new InProcessAttemptCounters().counter({ name: 'x', attempts: 1_000_000, withinSeconds: 60 });
    for (let n = 0; n < 120_000; n++) await counter.count(`key ${n}`);
    expect(timers).toBeGreaterThan(100_000);
    expect(timers).toBeLessThanOrEqual(131_072);
  });
});
