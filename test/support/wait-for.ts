import { setTimeout as wait } from 'node:timers/promises';
import { waitFor } from '../../src/testing/wait-for.js';

export { waitFor };

const CHECK_EVERY_MS = 5;

/**
 * Waits until the value has not changed for `quietMs`, and resolves with the value.
 *
 * @throws {Error} if the value still changes after `limitMs`.
 */
export async function standsStill(look: () => number, quietMs: number, limitMs = 15_000): Promise<number> {
  const deadline = performance.now() + limitMs;
  let last = look();
  let since = performance.now();
  while (performance.now() - since < quietMs) {
    if (performance.now() > deadline) throw new Error(`It still moves after ${limitMs} ms, at ${last}.`);
    await wait(CHECK_EVERY_MS);
    const now = look();
    if (now !== last) since = performance.now();
    last = now;
  }
  return last;
}

/** Calls `look` at most once in `everyMs`, and returns `undefined` in between. For a route with few requests per minute. */
export function atMostEvery<T>(everyMs: number, look: () => Promise<T>): () => Promise<T | undefined> {
  let nextAt = -Infinity;
  return async () => {
    if (performance.now() < nextAt) return undefined;
    nextAt = performance.now() + everyMs;
    return look();
  };
}

/**
 * Asks again and again, as busy clients do, until it is so. A busy machine delays what it finds, but not what this returns: for a
 * promise like "within a second" no question that began after the second may find it otherwise.
 *
 * @param what what the test waits for, for the message of the error.
 * @returns when the last question began that found it otherwise, by `performance.now()`; `-Infinity` if none did.
 */
export async function lastBefore(isSo: () => Promise<boolean>, what: string): Promise<number> {
  let last = -Infinity;
  await waitFor(async () => {
    const queriedAt = performance.now();
    if (await isSo()) return true;
    last = queriedAt;
    return false;
  }, what);
  return last;
}
