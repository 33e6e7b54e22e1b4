import type { Clock } from '../../common/clock.js';

/** The number of failures in a row after which an upstream counts as dead. */
const FAILURES_TO_OPEN = 5;
/** The time until one request tries a dead upstream again. */
const OPEN_MS = 10_000;

export type BreakerState = 'closed' | 'open' | 'half_open';

/** The result of an attempt. `slow`: the attempt failed, and the caller had to wait for the failure. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'slow' | 'abandoned';

/**
 * Records whether an upstream answers. After 5 failures in a row the breaker is open, and requests skip the upstream. After
 * 10 seconds the breaker is half open: one request at a time may probe the upstream. The first successful attempt closes
 * the breaker.
 */
export class CircuitBreaker {
  private failures = 0;
  private reopensAt = 0;
  private probing = false;
  /** True when the caller had to wait for the last failure. */
  private wasSlow = false;

  constructor(private readonly now: Clock) {}

  get state(): BreakerState {
    if (this.failures < FAILURES_TO_OPEN) return 'closed';
    return this.now() < this.reopensAt ? 'open' : 'half_open';
  }

  /** Whether a request may try the upstream now. */
  get isUsable(): boolean {
    const { state } = this;
    return state === 'closed' || (state === 'half_open' && !this.probing);
  }

  /** True when the upstream is not usable, and an attempt would only make the caller wait. */
  get isDead(): boolean {
    return !this.isUsable && this.wasSlow;
  }

  /**
   * Starts an attempt.
   *
   * @returns a function that takes the result of the attempt. Call it at the first text, or at a failure. Call it again
   * when the attempt fails after its first text.
   */
  begin(): (outcome: AttemptOutcome) => void {
    let isProbe = this.state === 'half_open' && !this.probing;
    if (isProbe) this.probing = true;
    return (outcome) => {
      if (isProbe) this.probing = false;
      isProbe = false;
      this.note(outcome);
    };
  }

  private note(outcome: AttemptOutcome): void {
    switch (outcome) {
      case 'succeeded':
        this.failures = 0;
        break;
      case 'failed':
      case 'slow':
        this.failures++;
        this.wasSlow = outcome === 'slow';
        this.reopensAt = this.now() + OPEN_MS;
        break;
      case 'abandoned':
        break;
    }
  }
}
