import { setTimeout as realTime } from 'node:timers/promises';
import { vi } from 'vitest';
import { placeOfCaller } from './timer-watch.js';

const STEP_MS = 100;
/** Between two moves of a clock. What the timers have sent has to reach the other end of its connection. */
const REAL_STEP_MS = 2;

/** Stops the clock of all timers in this process, and that of the calendar. {@link turn} moves them. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
}

/**
 * Stops the clock of the timers that the service starts, and of no others. Use this where a test waits for the network: meanwhile
 * a library may start a timer for what an earlier test of this process has left.
 */
export function stopTimersOfService(): void {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const fake = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  const stopped = new WeakSet<object>();
  const start = (callback: (...values: unknown[]) => void, ms?: number, ...values: unknown[]): NodeJS.Timeout => {
    if (placeOfCaller() === undefined) return real.setTimeout(callback, ms, ...values);
    const timer = fake.setTimeout(callback, ms, ...values);
    stopped.add(timer);
    return timer;
  };
  const clear = (timer: NodeJS.Timeout | undefined): void => {
    (timer !== undefined && stopped.has(timer) ? fake : real).clearTimeout(timer);
  };
  // Vitest marks its functions with properties, and restores only what is marked.
  globalThis.setTimeout = Object.assign(start, fake.setTimeout);
  globalThis.clearTimeout = Object.assign(clear, fake.clearTimeout);
}

/** Moves a clock that stands still, and lets run what is due. */
export const turn = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** Moves the clock of all timers in this process, which also goes on by itself as usual. */
export interface MovedTime {
  move(ms: number): Promise<void>;
  /** Moves the clock in small steps until the promise resolves, and returns how far it was moved, in milliseconds. */
  moveUntil(event: Promise<unknown>, limitMs: number): Promise<number>;
}

/** To be called around a service, so that all of its timers are moved. */
export async function inMovedTime(use: (time: MovedTime) => Promise<void>): Promise<void> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    shouldAdvanceTime: true,
  });
  try {
    await use({ move, moveUntil });
  } finally {
    vi.useRealTimers();
  }
}

async function move(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

async function moveUntil(event: Promise<unknown>, limitMs: number): Promise<number> {
  const from = performance.now();
  const stillWaiting = Symbol('still waiting');
  while ((await Promise.race([event, realTime(REAL_STEP_MS, stillWaiting)])) === stillWaiting) {
    if (performance.now() - from > limitMs) throw new Error(`It did not happen within ${limitMs} ms.`);
    await move(STEP_MS);
  }
  return performance.now() - from;
}
