import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { vi } from 'vitest';
import { stopTime } from './moved-time.js';

/** A pause that began: its length, and whether it keeps the process alive. */
export type Pause = [ms: number | undefined, keepsAlive: boolean];

/**
 * Makes the test move the clock, also that of the pauses of `node:timers/promises`, which `vi` leaves alone.
 *
 * @returns the pauses from now on.
 */
export function moveDelays(): Pause[] {
  stopTime();
  const pauses: Pause[] = [];
  vi.spyOn(timers, 'setTimeout').mockImplementation((ms, value, options) => {
    pauses.push([ms, options?.ref ?? true]);
    return new Promise((resolve) => {
      setTimeout(() => {
        resolve(value);
      }, ms);
    });
  });
  syncBuiltinESMExports();
  return pauses;
}

export function restoreDelays(): void {
  vi.mocked(timers.setTimeout).mockRestore();
  syncBuiltinESMExports();
  vi.useRealTimers();
}
