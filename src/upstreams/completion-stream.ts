import { ServiceError } from '../common/service-error.js';
import type { RouteConfig } from '../config/config.js';
import type { Attempt } from './attempt.js';
import type { AttemptOutcome } from './circuit-breaker.js';

/** An attempt with whom to tell how it went. */
export interface TrackedAttempt {
  readonly attempt: Attempt;
  /** The vendor has taken the request. */
  readonly accept: () => void;
  /** `error` where the vendor failed. */
  readonly settle: (outcome: AttemptOutcome, error?: unknown) => void;
}

/**
 * One completion: the text as it arrives, from the first route that gives any. Until then a failed attempt is followed
 * by one at the next route; afterwards a failure is thrown, as nothing may be said twice.
 *
 * Iterating ends only after the vendor has said that the answer is whole.
 */
export class CompletionStream implements AsyncIterableIterator<string, undefined> {
  /** Resolves once a vendor has taken the request. Never rejects: what fails is told by {@link begun} and {@link next}. */
  readonly accepted: Promise<void>;
  /** Resolves when the first text is there, or the answer is whole without any; rejects when no route gives one. */
  readonly begun: Promise<void>;
  private accept!: () => void;
  private current: TrackedAttempt | undefined;
  private first: { readonly text: string | undefined } | undefined;
  private stopped: Error | undefined;
  private over = false;

  /** @param onOver called once, however the completion ends: with `undefined` when it is whole, or else with why it is not. */
  constructor(
    private readonly routes: Iterable<RouteConfig>,
    private readonly begin: (route: RouteConfig) => TrackedAttempt,
    private readonly onOver: (failure?: unknown) => void,
  ) {
    this.accepted = new Promise((resolve) => {
      this.accept = resolve;
    });
    this.begun = this.findRoute().catch((error: unknown) => {
      this.end(error);
      throw error;
    });
    // Whoever reads is told; until then a failure must not count as one that nobody handles.
    this.begun.catch(() => undefined);
  }

  /** The text that {@link next} gave is all of it: nothing but the end can follow. */
  get isWhole(): boolean {
    return this.current?.attempt.isWhole ?? false;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    try {
      const text = await this.read();
      if (text !== undefined) return { done: false, value: text };
    } catch (error) {
      this.settleFailure(error);
      this.end(this.stopped ?? error);
      throw this.stopped ?? error;
    }
    this.end(undefined);
    return { done: true, value: undefined };
  }

  /** Ends the vendor's work; whoever waits gets `reason`. Harmless when the completion is over. */
  stop(reason: Error): void {
    if (this.over) return;
    this.stopped ??= reason;
    this.current?.attempt.close(reason);
    this.end(this.stopped);
  }

  return(): Promise<IteratorResult<string, undefined>> {
    this.stop(CLIENT_GONE);
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private async read(): Promise<string | undefined> {
    if (this.first === undefined) await this.begun;
    const { first } = this;
    if (first !== undefined && first !== TAKEN) {
      this.first = TAKEN;
      return first.text;
    }
    return this.current?.attempt.next();
  }

  private async findRoute(): Promise<void> {
    let failure: unknown;
    for (const route of this.routes) {
      if (this.stopped !== undefined) throw this.stopped;
      const { attempt, accept } = (this.current = this.begin(route));
      const accepted = (): void => {
        accept();
        this.accept();
      };
      attempt.accepted().then(accepted, () => undefined);
      try {
        this.first = { text: await attempt.next() };
        this.current.settle('succeeded');
        return;
      } catch (error) {
        this.settleFailure(error);
        failure = error;
        if (!mayGoBetterElsewhere(error)) break;
      }
    }
    throw failure;
  }

  private settleFailure(error: unknown): void {
    if (this.stopped === undefined) this.current?.settle(outcomeOf(error), error);
    else this.current?.settle('abandoned');
  }

  private end(failure: unknown): void {
    if (this.over) return;
    this.over = true;
    this.onOver(failure);
  }
}

/** The reason to stop when nobody is there any more to read the completion. */
export const CLIENT_GONE = new Error('The client has left.');
/** In place of the first text, once it has been read. */
const TAKEN = { text: undefined };

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
