import { setTimeout as wait } from 'node:timers/promises';

const LOOK_EVERY_MS = 5;

/**
 * Calls `look` every 5 ms, and resolves with the first value that is not `undefined` or `false`.
 *
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
    await wait(LOOK_EVERY_MS);
    const now = look();
    if (now !== last) since = performance.now();
    last = now;
  }
  return last;
}
