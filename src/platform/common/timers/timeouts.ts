import type { Socket } from 'node:net';
import { elapsedMs, startTimer } from './pace.js';

/** One wait consists of this many timers, one after the other. */
const PARTS = 5;

/**
 * Returns the outcome of `work`, or rejects with `late()` if there is no outcome after `limitMs`.
 *
 * Time in which the event loop was blocked does not count. After a block, at most one of the timers has expired, and an
 * answer that waits in a socket is read before the next timer can expire. So load on this process cannot make an answer
 * late.
 */
export async function withTimeout<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (partsLeft: number): void => {
      timer = startTimer(() => {
        if (partsLeft > 1) {
          wait(partsLeft - 1);
          return;
        }
        // Node reads the sockets once more before this callback runs.
        setImmediate(() => {
          reject(late());
        });
      }, limitMs / PARTS);
    };
    wait(PARTS);
    work
      .finally(() => {
        clearTimeout(timer);
      })
      .then(resolve, reject);
  });
}

/** Destroys a socket that has not closed by itself after this time. */
export function destroyAfter(ms: number, socket: Socket): void {
  const timer = startTimer(() => socket.destroy(), ms);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/**
 * Calls `onIdle` each time there has been no activity for too long, until the timeout is stopped.
 *
 * One timer serves a whole stream. Activity only moves the deadline, and the timer checks the deadline when it fires.
 */
export class IdleTimeout {
  private deadline: number;
  private timer: NodeJS.Timeout;
  private stopped = false;

  /**
   * @param limitMs how long there may be no activity.
   * @param counts returns false while the missing activity has another cause, such as a slow reader. The time then starts
   *   again from zero.
   * @param onIdle called each time the limit is reached.
   */
  constructor(
    private limitMs: number,
    private readonly counts: () => boolean,
    private readonly onIdle: () => void,
  ) {
    this.deadline = elapsedMs() + limitMs;
    this.timer = this.start(limitMs);
  }

  /** Reports activity. There may be no activity for `limitMs` from now on. */
  restart(limitMs: number): void {
    const before = this.deadline;
    this.limitMs = limitMs;
    this.deadline = elapsedMs() + limitMs;
    if (this.deadline < before && !this.stopped) {
      clearTimeout(this.timer);
      this.timer = this.start(limitMs);
    }
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private start(delayMs: number): NodeJS.Timeout {
    return startTimer(() => {
      this.checkDeadline();
    }, delayMs);
  }

  private checkDeadline(): void {
    let remainingMs = this.deadline - elapsedMs();
    if (remainingMs <= 0) {
      if (this.counts()) this.onIdle();
      if (this.stopped) return;
      remainingMs = this.limitMs;
      this.deadline = elapsedMs() + remainingMs;
    }
    this.timer = this.start(remainingMs);
  }
}
