import type { Clock } from '../../platform/common/clock.js';

/** The number of failures in a row that open the circuit. */
const FAILURES_TO_OPEN = 5;
/** How long the circuit is open first after fast failures. A fast failure costs a caller little. */
const FAST_OPEN_MS = 2_000;
/** How long the circuit is open first after failures that a caller had to wait for. */
const SLOW_OPEN_MS = 10_000;
/** Each failed probe doubles the time, up to this limit. */
const MAX_OPEN_MS = 60_000;
/** The time is longer or shorter by at most this share, so that replicas do not probe at the same time. */
const JITTER = 0.25;
/** The longest cooldown that a provider can ask for. */
export const MAX_COOLDOWN_MS = 5 * 60_000;
/** The wait that callers get while one of them probes. */
const PROBE_WAIT_MS = 1_000;

/** `open`: no request may try. `half_open`: one request at a time may try. */
export type BreakerState = 'closed' | 'open' | 'half_open';

interface BreakerListener {
  /** No request may try for this time. */
  opened(openMs: number): void;
  closed(): void;
}

/**
 * Decides whether requests may try a route, or an upstream. There are two reasons for an open circuit:
 *
 * - The provider asked for a cooldown (`Retry-After`). It is exactly as long as asked for, up to five minutes.
 * - 5 attempts in a row have failed. The time doubles with each failed probe, up to a minute, and has a random share. Then one
 *   request at a time may probe. The first successful attempt closes the circuit.
 *
 * Each method with an `attempt` gets the same object for the same attempt.
 */
export class CircuitBreaker {
  private failures = 0;
  /** How often the circuit was opened since the last success. */
  private timesOpened = 0;
  private openUntil = 0;
  private coolsDownUntil = 0;
  /** The attempt that probes. */
  private probe: object | undefined;
  private isReportedOpen = false;
  private openedAt = 0;
  private failedAt = 0;
  private lastFailure: string | undefined;

  /** @param random returns a number from 0 (inclusive) to 1 (exclusive). */
  constructor(
    private readonly now: Clock,
    private readonly random: () => number,
    private readonly listener: BreakerListener,
  ) {}

  get state(): BreakerState {
    const now = this.now();
    if (now < this.coolsDownUntil) return 'open';
    if (this.failures < FAILURES_TO_OPEN) return 'closed';
    return now < this.openUntil ? 'open' : 'half_open';
  }

  /** Whether the circuit is open because the provider asked for a cooldown. */
  get isCoolingDown(): boolean {
    return this.now() < this.coolsDownUntil;
  }

  /** For how long the circuit has not been closed, in milliseconds. `undefined`: it is closed. */
  get openForMs(): number | undefined {
    return this.state === 'closed' ? undefined : this.now() - this.openedAt;
  }

  /** Why the last attempt failed. `undefined`: the last attempt succeeded, or another replica knows the reason. */
  get failure(): string | undefined {
    return this.state === 'closed' && this.failures === 0 ? undefined : this.lastFailure;
  }

  /** The time since the last failure, in milliseconds. `undefined`: the last attempt succeeded. */
  get failedForMs(): number | undefined {
    return this.failures === 0 ? undefined : this.now() - this.failedAt;
  }

  /** The time until a request may try, in milliseconds. 0: now. */
  get waitMs(): number {
    switch (this.state) {
      case 'closed':
        return 0;
      case 'half_open':
        return this.probe === undefined ? 0 : PROBE_WAIT_MS;
      case 'open':
        return Math.max(this.coolsDownUntil, this.failures < FAILURES_TO_OPEN ? 0 : this.openUntil) - this.now();
    }
  }

  /** Starts an attempt. Call {@link end} when the attempt is over. */
  begin(attempt: object): void {
    const { state } = this;
    if (state === 'closed') this.reportClosed();
    else if (state === 'half_open') this.probe ??= attempt;
  }

  /**
   * Lets no request try for this time. A shorter cooldown does not replace a longer one.
   *
   * @param failure why the attempt that brought the cooldown has failed. `undefined`: another replica has reported the cooldown.
   */
  coolDown(ms: number, failure?: string): void {
    const limited = Math.min(ms, MAX_COOLDOWN_MS);
    const until = this.now() + limited;
    if (until <= this.coolsDownUntil) return;
    const isChange = this.state !== 'open';
    this.recordFailure(failure);
    this.coolsDownUntil = until;
    // Many requests in flight can bring the same cooldown.
    if (isChange) this.reportOpened(limited);
  }

  /** The attempt has succeeded, and may still go on. */
  succeed(attempt: object): void {
    this.end(attempt);
    this.failures = 0;
    this.timesOpened = 0;
    if (this.state === 'closed') this.reportClosed();
  }

  /**
   * @param slow whether the caller of the attempt had to wait for the failure.
   * @param failure why the attempt has failed, in one line.
   */
  fail(attempt: object, slow: boolean, failure?: string): void {
    this.end(attempt);
    // A circuit that is open does not stay open longer because of attempts that began before.
    if (this.state === 'open') return;
    this.recordFailure(failure);
    this.failures += 1;
    if (this.failures < FAILURES_TO_OPEN) return;
    const first = slow ? SLOW_OPEN_MS : FAST_OPEN_MS;
    const openMs = Math.min(first * 2 ** this.timesOpened, MAX_OPEN_MS) * (1 - JITTER + 2 * JITTER * this.random());
    this.timesOpened += 1;
    this.openUntil = this.now() + openMs;
    this.reportOpened(openMs);
  }

  /** Lets all requests try again, because an operator says so. */
  close(): void {
    this.failures = 0;
    this.timesOpened = 0;
    this.coolsDownUntil = 0;
    this.probe = undefined;
    this.reportClosed();
  }

  /** Ends the attempt, with or without a result. Another request may then probe. */
  end(attempt: object): void {
    if (this.probe === attempt) this.probe = undefined;
  }

  /** Call this before the change that may open the circuit. */
  private recordFailure(failure: string | undefined): void {
    this.failedAt = this.now();
    if (this.state === 'closed') this.openedAt = this.failedAt;
    this.lastFailure = failure;
  }

  private reportOpened(openMs: number): void {
    this.isReportedOpen = true;
    this.listener.opened(openMs);
  }

  private reportClosed(): void {
    if (!this.isReportedOpen) return;
    this.isReportedOpen = false;
    this.listener.closed();
  }
}
