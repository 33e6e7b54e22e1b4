import { setTimeout as wait } from 'node:timers/promises';

const LOOK_EVERY_MS = 5;

/** Resolves with the first value that is not `undefined` or false. */
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

/** Resolves with the value once it has not changed for `quietMs`: for what is to be seen to stand still. */
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
