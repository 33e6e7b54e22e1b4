import { setTimeout as wait } from 'node:timers/promises';

const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;
/** The growth from one pause to the next. A pause is about this share of the time waited so far. */
const PAUSE_GROWTH = 0.02;

/**
 * Calls `probe` again and again, and resolves with the first value that is not `undefined` or `false`. The pause between two calls
 * is 5 ms at first. The pause grows with the time waited so far, up to 100 ms, so that a long wait takes little work.
 *
 * @since 1.0
 *
 * @param what what the test waits for, for the message of the error.
 * @throws {Error} after `limitMs` without such a value.
 */
export async function waitFor<T>(
  probe: () => T | Promise<T>,
  what: string,
  limitMs = 30_000,
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const deadline = performance.now() + limitMs;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * (1 + PAUSE_GROWTH))) {
    const found = await probe();
    if (found !== undefined && found !== false) return found as Exclude<Awaited<T>, undefined | false>;
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain: ${what}.`);
    await wait(pauseMs);
  }
}
