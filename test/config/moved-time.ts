import { vi } from 'vitest';

/** Moves the clock of all timers in this process, which also goes on by itself as usual. */
export interface MovedTime {
  move(ms: number): Promise<void>;
}

/** To be called around a service, so that all of its timers are moved. */
export async function inMovedTime(use: (time: MovedTime) => Promise<void>): Promise<void> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    shouldAdvanceTime: true,
  });
  try {
    await use({
      async move(ms) {
        await vi.advanceTimersByTimeAsync(ms);
      },
    });
  } finally {
    vi.useRealTimers();
  }
}
