import { MINUTE_MS } from '../../platform/common/clock.js';
import { LabeledCounter } from '../../platform/common/counts/counters.js';
import { elapsedMs } from '../../platform/common/timers/pace.js';
import { failureText, type FailureCause } from '../contract/provider-failure.js';

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
export class RouteCounts {
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
