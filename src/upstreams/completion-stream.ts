import type { RouteConfig } from '../config/config.js';
import { ServiceError } from '../common/service-error.js';
import type { Attempt } from './attempt.js';

/** Opens the attempt at one route. */
export type OpenAttempt = (route: RouteConfig) => Attempt;

/**
 * One completion: the text as it arrives, from the first route that gives any. Until then a failed attempt is followed
 * by one at the next route; afterwards a failure is thrown, as nothing may be said twice.
 */
export class CompletionStream implements AsyncIterableIterator<string> {
  private attempt: Attempt | undefined;
  private closed: Error | undefined;
  /** Resolves once a vendor has taken the request. Never rejects: what fails is told by {@link next}. */
  readonly accepted: Promise<void>;
  private accept!: () => void;

  constructor(
    private readonly routes: readonly RouteConfig[],
    private readonly open: OpenAttempt,
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
      const text = this.attempt === undefined ? await this.first() : await this.attempt.next();
      if (text !== undefined) return { done: false, value: text };
    } catch (error) {
      this.end();
      throw this.closed ?? error;
    }
    this.end();
    return { done: true, value: undefined };
  }

  /** The first text that any route gives. */
  private async first(): Promise<string | undefined> {
    let failure: unknown;
    for (const route of this.routes) {
      if (this.closed !== undefined) throw this.closed;
      this.attempt = this.open(route);
      this.attempt.accepted().then(this.accept, () => undefined);
      try {
        return await this.attempt.next();
      } catch (error) {
        failure = error;
        if (this.closed !== undefined || !mayGoBetterElsewhere(error)) break;
      }
    }
    throw failure;
  }

  /** Stops the vendor's work. */
  return(): Promise<IteratorResult<string, undefined>> {
    this.stop(new Error('Nobody reads the completion any more.'));
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private readonly abort = (): void => {
    this.stop(this.signal.reason as Error);
  };

  private stop(reason: Error): void {
    this.closed ??= reason;
    this.attempt?.close(reason);
    this.end();
  }

  private end(): void {
    this.signal.removeEventListener('abort', this.abort);
  }
}

/** A request that one vendor refuses as such would be refused, or answered otherwise than meant, by the next. */
function mayGoBetterElsewhere(error: unknown): boolean {
  return error instanceof ServiceError && error.code.startsWith('upstream_') && error.code !== 'upstream_rejected';
}
