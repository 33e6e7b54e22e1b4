import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HourlyJobs, PeriodicTask } from '../../../../../src/platform/common/timers/periodic-task.js';
import { Logger } from '@nestjs/common';

describe('rounds', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
  });

  it('begin each time after the time that the round before has returned', async () => {
    const delays = [10, 1_000];
    let count = 0;
    const rounds = new PeriodicTask(() => {
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
    const rounds = new PeriodicTask(() => {
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

describe('hourly jobs', () => {
  const FIRST_MS = 20_000;
  const HOUR_MS = 3_600_000;
  const PAUSE_MS = 50;

  let jobs: HourlyJobs;
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  /** Adds a job whose portions have these outcomes, and then no more to do. */
  function addJob(...outcomes: (boolean | Error)[]) {
    const job = vi.fn(() => {
      const outcome = outcomes.shift() ?? false;
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    });
    jobs.add('Deletes old rows', job);
    return job;
  }

  beforeEach(() => {
    vi.useFakeTimers();
    jobs = new HourlyJobs();
  });
  afterEach(async () => {
    await jobs.beforeApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
  });

  describe('hourly jobs', () => {
    it('run soon after the start, and then every hour, until the end', async () => {
      const [one, other] = [addJob(), addJob()];
      jobs.onApplicationBootstrap();
      await pass(FIRST_MS - 1);
      expect(one).not.toHaveBeenCalled();
      await pass(1);
      expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 1]);
      await pass(HOUR_MS - 1);
      expect(one).toHaveBeenCalledTimes(1);
      await pass(1);
      expect([one.mock.calls.length, other.mock.calls.length]).toEqual([2, 2]);
      await jobs.beforeApplicationShutdown();
      await pass(2 * HOUR_MS);
      expect(one).toHaveBeenCalledTimes(2);
    });

    it('run in portions with a delay, until a portion leaves nothing to do', async () => {
      const job = addJob(true, true);
      jobs.onApplicationBootstrap();
      await pass(FIRST_MS + PAUSE_MS - 1);
      expect(job).toHaveBeenCalledTimes(1);
      await pass(1 + PAUSE_MS);
      expect(job).toHaveBeenCalledTimes(3);
      await pass(HOUR_MS - 1);
      expect(job).toHaveBeenCalledTimes(3);
    });

    it('are tried again in an hour after a failure, which is logged and concerns no other job', async () => {
      const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
      const [failing, other] = [addJob(new Error('away')), addJob()];
      jobs.onApplicationBootstrap();
      await pass(FIRST_MS + HOUR_MS);
      expect([failing.mock.calls.length, other.mock.calls.length]).toEqual([2, 2]);
      expect(warn.mock.calls).toEqual([[expect.objectContaining({ job: 'Deletes old rows', reason: 'Error: away' })]]);
    });

    it('are asked to end by their signal, and their end is awaited', async () => {
      let end: (hasMore: boolean) => void = () => undefined;
      let signal: AbortSignal | undefined;
      const job = vi.fn((given: AbortSignal) => {
        signal = given;
        return new Promise<boolean>((resolve) => (end = resolve));
      });
      jobs.add('Compares all rows', job);
      jobs.onApplicationBootstrap();
      await pass(FIRST_MS);
      let isStopped = false;
      const stopped = jobs.beforeApplicationShutdown().then(() => (isStopped = true));
      await pass(HOUR_MS);
      expect([signal?.aborted, isStopped]).toEqual([true, false]);
      end(true);
      await pass(PAUSE_MS);
      await stopped;
      expect(job).toHaveBeenCalledTimes(1);
    });
  });
});
