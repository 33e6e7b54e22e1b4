import { ServiceError } from '../common/service-error.js';
import type { RouteConfig } from '../config/config.js';
import type { Attempt } from './attempt.js';
import type { AttemptOutcome } from './circuit-breaker.js';

const UNREAD = new Error('Nobody reads the completion any more.');

/** An attempt with whom to tell how it went. */
export interface TrackedAttempt {
  readonly attempt: Attempt;
  /** Called once. `error` where it failed. */
  readonly settle: (outcome: AttemptOutcome, error?: unknown) => void;
}

/**
 * One completion: the text as it arrives, from the first route that gives any. Until then a failed attempt is followed
 * by one at the next route; afterwards a failure is thrown, as nothing may be said twice.
 */
export class CompletionStream implements AsyncIterableIterator<string, undefined> {
  private current: TrackedAttempt | undefined;
  private closed: Error | undefined;
  /** Resolves once a vendor has taken the request. Never rejects: what fails is told by {@link next}. */
  readonly accepted: Promise<void>;
  private accept!: () => void;

  constructor(
    private readonly routes: Iterable<RouteConfig>,
    private readonly begin: (route: RouteConfig) => TrackedAttempt,
    private readonly signal: AbortSignal,
  ) {
    this.accepted = new Promise((resolve) => {
      this.accept = resolve;
    });
    if (signal.aborted) this.abort();
    else signal.addEventListener('abort', this.abort, { once: true });
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    try {
      const text = this.current === undefined ? await this.first() : await this.nextOf(this.current);
      if (text !== undefined) return { done: false, value: text };
    } catch (error) {
      this.end();
      throw this.closed ?? error;
    }
    this.end();
    return { done: true, value: undefined };
  }

  /** Stops the vendor's work. */
  return(): Promise<IteratorResult<string, undefined>> {
    this.stop(UNREAD);
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The first text that any route gives. */
  private async first(): Promise<string | undefined> {
    let failure: unknown;
    for (const route of this.routes) {
      if (this.closed !== undefined) throw this.closed;
      this.current = this.begin(route);
      this.current.attempt.accepted().then(this.accept, () => undefined);
      try {
        const text = await this.nextOf(this.current);
        this.current.settle('succeeded');
        return text;
      } catch (error) {
        failure = error;
        if (!mayGoBetterElsewhere(error)) break;
      }
    }
    throw failure;
  }

  private async nextOf({ attempt, settle }: TrackedAttempt): Promise<string | undefined> {
    try {
      return await attempt.next();
    } catch (error) {
      settle(this.closed === undefined ? outcomeOf(error) : 'abandoned', error);
      throw error;
    }
  }

  private readonly abort = (): void => {
    this.stop(this.signal.reason as Error);
  };

  private stop(reason: Error): void {
    this.closed ??= reason;
    this.current?.attempt.close(reason);
    this.end();
  }

  private end(): void {
    this.signal.removeEventListener('abort', this.abort);
  }
}

/** What one vendor refuses as wrong would be refused, or answered otherwise than it was meant, by the next. */
function mayGoBetterElsewhere(error: unknown): boolean {
  return error instanceof ServiceError && error.code.startsWith('upstream_') && error.code !== 'upstream_rejected';
}

/** A vendor that limits us, or refuses a request, is alive. */
function outcomeOf(error: unknown): AttemptOutcome {
  const code = error instanceof ServiceError ? error.code : undefined;
  if (code === 'upstream_timeout') return 'slow';
  return code === 'upstream_error' ? 'failed' : 'abandoned';
}
