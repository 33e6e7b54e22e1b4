import { factsOf, type ServiceError } from '../../platform/common/service-error.js';
import { elapsedMs } from '../../platform/common/timers/pace.js';
import type { AttemptEnd, AttemptObserver } from '../completion/attempt.js';
import { causeOf, failureText, ProviderFailure, type FailureCause } from '../contract/provider-failure.js';
import { MAX_COOLDOWN_MS, type CircuitBreaker } from './circuit-breaker.js';
import { MINUTE_MS } from '../../platform/common/clock.js';
import { LabeledCounter } from '../../platform/common/counts/counters.js';

/** The present minute, and the minutes before it. */
const RECENT_MINUTES = 5;

interface Minute {
  /** Minutes of the clock. */
  readonly minute: number;
  attempts: number;
  errors: number;
}

/** The last error of a route, and the time since then. */
export interface LastError {
  readonly agoMs: number;
  /** The code and the cause in one line. */
  readonly text: string;
}

/** Counts the attempts at one route, since the start and in the last five minutes. */
class RouteCounts {
  attempts = 0;
  /** The keys are `<code> <kind>`. */
  readonly errors = new LabeledCounter();
  private readonly minutes: Minute[] = [];
  private attemptedAt: number | undefined;
  private failedAt: number | undefined;
  private failure: readonly [code: string, cause: FailureCause] | undefined;

  /** The time since the last attempt began, in milliseconds. `undefined`: there was none. */
  get attemptedAgoMs(): number | undefined {
    return this.attemptedAt === undefined ? undefined : elapsedMs() - this.attemptedAt;
  }

  get lastError(): LastError | undefined {
    const { failedAt, failure } = this;
    if (failedAt === undefined || failure === undefined) return undefined;
    return { agoMs: elapsedMs() - failedAt, text: failureText(...failure) };
  }

  /** The attempts of the last five minutes. */
  get recent(): { readonly attempts: number; readonly errors: number } {
    const sum = { attempts: 0, errors: 0 };
    this.forget(this.present());
    for (const { attempts, errors } of this.minutes) {
      sum.attempts += attempts;
      sum.errors += errors;
    }
    return sum;
  }

  begin(): void {
    this.attempts += 1;
    this.attemptedAt = elapsedMs();
    this.minute().attempts += 1;
  }

  fail(code: string, cause: FailureCause): void {
    this.errors.add(`${code} ${cause.kind}`);
    this.failedAt = elapsedMs();
    this.failure = [code, cause];
    this.minute().errors += 1;
  }

  private minute(): Minute {
    const minute = this.present();
    const last = this.minutes.at(-1);
    if (last?.minute === minute) return last;
    this.forget(minute);
    const next = { minute, attempts: 0, errors: 0 };
    this.minutes.push(next);
    return next;
  }

  private forget(present: number): void {
    while ((this.minutes[0]?.minute ?? present) <= present - RECENT_MINUTES) this.minutes.shift();
  }

  private present(): number {
    return Math.floor(elapsedMs() / MINUTE_MS);
  }
}

const MS_PER_SECOND = 1_000;

/**
 * The state of one route: of the model at its upstream, and of the whole upstream. Only failures that concern the whole
 * upstream, such as a refused connection, open the circuit for the other routes of the upstream.
 */
export class RouteState {
  /** The number of attempts that are not over. */
  inFlight = 0;
  readonly counts = new RouteCounts();
  /** The attempts that have no text yet, the oldest first. */
  private readonly waiting = new Set<RouteAttempt>();

  /** @param onCooldown called when the provider has asked for a cooldown of the route or of the whole upstream. */
  constructor(
    readonly route: CircuitBreaker,
    readonly upstream: CircuitBreaker,
    private readonly onCooldown: (scope: 'route' | 'upstream', ms: number) => void,
  ) {}

  /** The time until a request may try the route, in milliseconds. 0: now. */
  get waitMs(): number {
    return Math.max(this.route.waitMs, this.upstream.waitMs);
  }

  /** How many attempts wait for their first text. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** For how long the oldest of them has waited, in milliseconds. 0: none waits. */
  get longestWaitMs(): number {
    const [oldest] = this.waiting;
    return oldest === undefined ? 0 : elapsedMs() - oldest.startedAt;
  }

  begin(): RouteAttempt {
    this.inFlight += 1;
    this.counts.begin();
    const attempt = new RouteAttempt(this);
    this.waiting.add(attempt);
    return attempt;
  }

  /** The attempt waits no more, because it has a text or is over. */
  answered(attempt: RouteAttempt): void {
    this.waiting.delete(attempt);
  }

  coolDown(scope: 'route' | 'upstream', ms: number, failure?: string): void {
    const limitedMs = Math.min(ms, MAX_COOLDOWN_MS);
    this[scope].coolDown(limitedMs, failure);
    this.onCooldown(scope, limitedMs);
  }
}

/** One attempt at a route. Records in the state of the route what the attempt shows. */
class RouteAttempt implements AttemptObserver {
  readonly startedAt = elapsedMs();

  constructor(private readonly state: RouteState) {
    state.route.begin(this);
    state.upstream.begin(this);
  }

  /** The first text is a success of the route, even if the attempt fails later. */
  onFirstText(): void {
    this.state.answered(this);
    this.succeed();
  }

  onEnd(end: AttemptEnd): void {
    const { state } = this;
    if (end.type === 'complete') this.succeed();
    else if (end.type === 'failed') {
      state.counts.fail(end.failure.code, causeOf(end.failure));
      this.fail(end.failure);
    }
    state.inFlight -= 1;
    state.answered(this);
    state.route.end(this);
    state.upstream.end(this);
  }

  private succeed(): void {
    this.state.route.succeed(this);
    this.state.upstream.succeed(this);
  }

  /** A provider that limits or rejects requests is available, unless it asks for a cooldown. */
  private fail(failure: ServiceError): void {
    const { code, retryAfterSeconds = 0 } = failure;
    if (factsOf(code).fault !== 'provider') return;
    const scope = failure instanceof ProviderFailure ? failure.scope : 'route';
    const why = failureText(code, causeOf(failure));
    if (retryAfterSeconds > 0) this.state.coolDown(scope, retryAfterSeconds * MS_PER_SECOND, why);
    else if (code !== 'upstream_unavailable') this.state[scope].fail(this, code === 'upstream_timeout', why);
  }
}
