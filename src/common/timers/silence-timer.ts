/**
 * Calls `onSilent` each time something has been silent for too long, until the timer is stopped.
 *
 * One timer serves a whole stream. A sign of activity only moves the deadline, and the timer checks the deadline when it
 * fires.
 */
export class SilenceTimer {
  private deadline: number;
  private timer: NodeJS.Timeout;
  private stopped = false;

  /**
   * @param limitMs how long the silence may last.
   * @param counts returns false while the silence has another cause, such as a slow reader. The silence then starts again
   *   from zero.
   * @param onSilent called after each silence that counts.
   */
  constructor(
    private limitMs: number,
    private readonly counts: () => boolean,
    private readonly onSilent: () => void,
  ) {
    this.deadline = performance.now() + limitMs;
    this.timer = this.start(limitMs);
  }

  /** Reports a sign of activity. The next silence may last `limitMs` from now on. */
  allow(limitMs: number): void {
    const before = this.deadline;
    this.limitMs = limitMs;
    this.deadline = performance.now() + limitMs;
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
    return setTimeout(() => {
      this.look();
    }, delayMs);
  }

  private look(): void {
    let remainingMs = this.deadline - performance.now();
    if (remainingMs <= 0) {
      if (this.counts()) this.onSilent();
      if (this.stopped) return;
      remainingMs = this.limitMs;
      this.deadline = performance.now() + remainingMs;
    }
    this.timer = this.start(Math.ceil(remainingMs));
  }
}
