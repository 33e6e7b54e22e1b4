import { setTimeout as wait } from 'node:timers/promises';

export { waitFor } from '../../src/testing/wait-for.js';

const LOOK_EVERY_MS = 5;

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
