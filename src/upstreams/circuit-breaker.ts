import type { Clock } from '../common/clock.js';

/** Failures in a row after which an upstream counts as dead. */
const FAILURES_TO_OPEN = 5;
/** How long a dead upstream is left alone before one request tries it again. */
const OPEN_MS = 10_000;

export type BreakerState = 'closed' | 'open' | 'half_open';

/** How an attempt at an upstream went. `slow`: it failed, and only after its caller had waited for it. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'slow' | 'abandoned';

/**
 * Remembers whether an upstream answers. After a few failures in a row it is open: the upstream is passed over. After a
 * while one request at a time may probe it (half open); the first that succeeds closes it.
 */
export class CircuitBreaker {
  private failures = 0;
  private reopensAt = 0;
  private probing = false;
  /** The last failure was one that its caller had to wait for. */
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

  /** It is not usable, and trying it all the same would make the caller wait in vain. */
  get isDead(): boolean {
    return !this.isUsable && this.wasSlow;
  }

  /** @returns to be called with how the attempt went: when it gave its first text, and if it failed later. */
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
