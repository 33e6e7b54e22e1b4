import { setTimeout as wait } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
/** The pause between two calls, as a share of the time waited so far. */
const PAUSE_SHARE = 0.02;

/**
 * Calls `look` again and again, and resolves with the first value that is not `undefined` or `false`. The pause between two calls
 * is 5 ms at first. The pause grows with the time waited so far, up to 100 ms, so that a long wait takes little work.
 *
 * @param what what the test waits for, for the message of the error.
 * @throws {Error} after `limitMs` without such a value.
 */
export async function waitFor<T>(
  look: () => T | Promise<T>,
  what: string,
  limitMs = 30_000,
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const begun = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<Awaited<T>, undefined | false>;
    const waitedMs = performance.now() - begun;
    if (waitedMs > limitMs) throw new Error(`Waited ${limitMs} ms in vain: ${what}.`);
    await wait(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs * PAUSE_SHARE)));
  }
}
