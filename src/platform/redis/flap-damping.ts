const FLAP_WINDOW_MS = 10_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/**
 * Delays the return of a server that allows the probe, but soon refuses another command, for example because its user has no
 * permission for it, or because its memory is almost full. Without a delay, the server would come and go several times a
 * second.
 */
export class FlapDamping {
  private delayMs = 0;
  private recoveredAt = -Infinity;
  private until = -Infinity;

  get isWaiting(): boolean {
    return performance.now() < this.until;
  }

  recovered(): void {
    this.recoveredAt = performance.now();
  }

  /** The server has refused a command. Each refusal soon after a return doubles the delay. */
  refused(): void {
    const now = performance.now();
    if (this.isWaiting) return;
    const isFlap = now - this.recoveredAt < FLAP_WINDOW_MS + this.delayMs;
    this.delayMs = isFlap ? Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, 2 * this.delayMs)) : 0;
    this.until = now + this.delayMs;
  }
}
