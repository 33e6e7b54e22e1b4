import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { headersDue } from '../../../../src/chat/stream/deferred-headers.js';

const never = new Promise<never>(() => undefined);
const now = Promise.resolve();

describe('the headers of a stream', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  /** Returns the time until the headers are due, in milliseconds. */
  async function dueAfter(first: Promise<unknown>, accepted: Promise<void>): Promise<number> {
    const startedAt = Date.now();
    const due = headersDue(first, accepted).then(() => Date.now() - startedAt);
    await vi.advanceTimersByTimeAsync(60_000);
    return due;
  }

  it('are due at the first text', async () => {
    await expect(headersDue(now, never)).resolves.toBeUndefined();
  });

  it('are due after ten seconds if the provider has accepted the request', async () => {
    expect(await dueAfter(never, now)).toBe(10_000);
  });

  it('are due when the provider accepts the request later', async () => {
    const accepted = new Promise<void>((resolve) => setTimeout(resolve, 17_000));
    expect(await dueAfter(never, accepted)).toBe(17_000);
  });

  it('are due after thirty seconds in any case', async () => {
    expect(await dueAfter(never, never)).toBe(30_000);
  });

  it.each([1_000, 15_000])('give way to a failure after %i ms', async (ms) => {
    const failed = new Promise((_, reject) => setTimeout(reject, ms, new Error('refused')));
    const due = headersDue(failed, never);
    const outcome = expect(due).rejects.toThrow('refused');
    await vi.advanceTimersByTimeAsync(ms);
    await outcome;
  });
});
