import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** A latch that a test opens. Code that awaits `opened` continues after the test has called `open`. */
export class Latch {
  readonly opened: Promise<void>;
  open!: () => void;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** Whether the work ends without a latch that is closed. Runs the timers of `vi` that are due now, if it has any. */
export async function isOver(work: Promise<unknown>): Promise<boolean> {
  let over = false;
  void work.then(() => (over = true));
  if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(0);
  else await turn();
  return over;
}
