import { setTimeout as wait } from 'node:timers/promises';

const LOOK_EVERY_MS = 5;

/**
 * Calls `look` every 5 ms, and resolves with the first value that is not `undefined` or `false`.
 *
 * @param what what the test waits for, for the message of the error.
 * @throws {Error} after `limitMs` without such a value.
 */
export async function waitFor<T>(
  look: () => T | Promise<T>,
  what: string,
  limitMs = 30_000,
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<Awaited<T>, undefined | false>;
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain: ${what}.`);
    await wait(LOOK_EVERY_MS);
  }
}
