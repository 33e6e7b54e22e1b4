const RELAPSE_WITHIN_MS = 10_000;
const FIRST_DELAY_MS = 1_000;
const MOST_DELAY_MS = 60_000;

/**
 * Delays the return of a server that allows the probe, but soon refuses another command, for example because its user has no
 * permission for it, or because its memory is almost full. Without a delay, the server would come and go several times a
 * second.
 */
export class RelapseDelay {
  private delayMs = 0;
  private backAt = -Infinity;
  private until = -Infinity;

  get isWaiting(): boolean {
    return performance.now() < this.until;
  }

  cameBack(): void {
    this.backAt = performance.now();
  }

  /** The server has refused a command. Each refusal soon after a return doubles the delay. */
  refused(): void {
    const now = performance.now();
    if (this.isWaiting) return;
    const isRelapse = now - this.backAt < RELAPSE_WITHIN_MS + this.delayMs;
    this.delayMs = isRelapse ? Math.min(MOST_DELAY_MS, Math.max(FIRST_DELAY_MS, 2 * this.delayMs)) : 0;
    this.until = now + this.delayMs;
  }
}
