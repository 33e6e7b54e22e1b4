/**
 * Tells when something has been silent for too long, again and again until it is stopped. One timer serves a whole
 * stream: a sign of life only moves the deadline, and the timer looks at it when it fires.
 */
export class SilenceTimer {
  private deadline: number;
  private timer: NodeJS.Timeout;
  private stopped = false;

  /** @param counts false while the silence is somebody else's: it starts over then. */
  constructor(
    private limitMs: number,
    private readonly counts: () => boolean,
    private readonly onSilent: () => void,
  ) {
    this.deadline = performance.now() + limitMs;
    this.timer = this.start(limitMs);
  }

  /** A sign of life. Allows `limitMs` from now on. */
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
