import type { Clock } from '../../common/clock.js';

/** The number of failures in a row after which requests pause. */
const FAILURES_TO_OPEN = 5;
/** The first pause after fast failures. A fast failure costs a caller little. */
const FAST_PAUSE_MS = 2_000;
/** The first pause after failures that a caller had to wait for. */
const SLOW_PAUSE_MS = 10_000;
/** Each failed probe doubles the pause, up to this limit. */
const MAX_PAUSE_MS = 60_000;
/** A pause is longer or shorter by at most this share, so that replicas do not probe at the same time. */
const JITTER = 0.25;
/** The longest rest that a provider can ask for. */
export const MAX_REST_MS = 5 * 60_000;
/** The wait that callers are told while one of them probes. */
const PROBE_WAIT_MS = 1_000;

/** `open`: no request may try. `half_open`: one request at a time may try. */
export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerListener {
  /** No request may try for this time. */
  opened(pauseMs: number): void;
  closed(): void;
}

/**
 * Decides whether requests may try a route, or an upstream. There are two reasons to pause:
 *
 * - The provider asked for a rest (`Retry-After`). The rest is exactly as long as asked for, up to five minutes.
 * - 5 attempts in a row have failed. The pause doubles with each failed probe, up to a minute, and has a random share. After
 *   a pause, one request at a time may probe. The first successful attempt ends the pauses.
 */
export class CircuitBreaker {
  private failures = 0;
  private pauses = 0;
  private opensUntil = 0;
  private restsUntil = 0;
  private isProbing = false;
  private isTold = false;

  /** @param random returns a number from 0 (inclusive) to 1 (exclusive). */
  constructor(
    private readonly now: Clock,
    private readonly random: () => number,
    private readonly listener: BreakerListener,
  ) {}

  get state(): BreakerState {
    const now = this.now();
    if (now < this.restsUntil) return 'open';
    if (this.failures < FAILURES_TO_OPEN) return 'closed';
    return now < this.opensUntil ? 'open' : 'half_open';
  }

  /** The time until a request may try, in milliseconds. 0: now. */
  get waitMs(): number {
    switch (this.state) {
      case 'closed':
        return 0;
      case 'half_open':
        return this.isProbing ? PROBE_WAIT_MS : 0;
      case 'open':
        return Math.max(this.restsUntil, this.failures < FAILURES_TO_OPEN ? 0 : this.opensUntil) - this.now();
    }
  }

  /** Starts an attempt. Call {@link Trial.end} when the attempt is over. */
  begin(): Trial {
    const { state } = this;
    if (state === 'closed') this.tellClosed();
    const isProbe = state === 'half_open' && !this.isProbing;
    if (isProbe) this.isProbing = true;
    return new Trial(this, isProbe);
  }

  /** Lets no request try for this time. A shorter rest does not replace a longer one. */
  rest(ms: number): void {
    const limited = Math.min(ms, MAX_REST_MS);
    const until = this.now() + limited;
    if (until <= this.restsUntil) return;
    const isChange = this.state !== 'open';
    this.restsUntil = until;
    // Many requests in flight can bring the same rest.
    if (isChange) this.tellOpened(limited);
  }

  /** An attempt has succeeded. */
  succeeded(): void {
    this.failures = 0;
    this.pauses = 0;
    if (this.state === 'closed') this.tellClosed();
  }

  /** An attempt has failed. @param slow whether its caller had to wait for the failure. */
  failed(slow: boolean): void {
    // Attempts from before the pause tell nothing new.
    if (this.state === 'open') return;
    this.failures += 1;
    if (this.failures < FAILURES_TO_OPEN) return;
    const first = slow ? SLOW_PAUSE_MS : FAST_PAUSE_MS;
    const pauseMs = Math.min(first * 2 ** this.pauses, MAX_PAUSE_MS) * (1 - JITTER + 2 * JITTER * this.random());
    this.pauses += 1;
    this.opensUntil = this.now() + pauseMs;
    this.tellOpened(pauseMs);
  }

  probeEnded(): void {
    this.isProbing = false;
  }

  private tellOpened(pauseMs: number): void {
    this.isTold = true;
    this.listener.opened(pauseMs);
  }

  private tellClosed(): void {
    if (!this.isTold) return;
    this.isTold = false;
    this.listener.closed();
  }
}

/** One attempt, as its breaker sees it. */
export class Trial {
  constructor(
    private readonly breaker: CircuitBreaker,
    private isProbe: boolean,
  ) {}

  succeed(): void {
    this.end();
    this.breaker.succeeded();
  }

  fail(slow: boolean): void {
    this.end();
    this.breaker.failed(slow);
  }

  /** Ends the attempt, with or without a result. Another request may then probe. */
  end(): void {
    if (this.isProbe) this.breaker.probeEnded();
    this.isProbe = false;
  }
}
