import { ServiceError } from '../../common/service-error.js';
import type { RouteConfig } from '../../config/config.js';
import type { Attempt } from './attempt.js';
import type { AttemptOutcome } from '../routing/circuit-breaker.js';

/** An attempt and the callbacks that report its progress. */
export interface TrackedAttempt {
  readonly attempt: Attempt;
  /** Call this when the provider has accepted the request. */
  readonly accept: () => void;
  /** Call this with the result of the attempt. Pass `error` when the provider failed. */
  readonly settle: (outcome: AttemptOutcome, error?: unknown) => void;
}

/**
 * Streams the text of one completion from the first route that returns text. When an attempt fails before its first text,
 * the stream tries the next route. A later failure is thrown, because text that was already sent must not be sent twice.
 *
 * The iteration ends only after the provider has marked the answer as complete.
 */
export class CompletionStream implements AsyncIterableIterator<string, undefined> {
  /** Resolves when a provider has accepted the request. Never rejects: {@link begun} and {@link next} report failures. */
  readonly accepted: Promise<void>;
  /** Resolves at the first text, or when the answer is complete without text. Rejects when all routes fail. */
  readonly begun: Promise<void>;
  private accept!: () => void;
  private current: TrackedAttempt | undefined;
  private first: { readonly text: string | undefined } | undefined;
  private stopped: Error | undefined;
  private over = false;

  /** @param onOver called once at the end of the completion, with `undefined` on success, or with the failure otherwise. */
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
    // The failure also reaches the caller of next(). This handler prevents an unhandled rejection until then.
    this.begun.catch(() => undefined);
  }

  /** True when {@link next} has returned the complete text, so that only the end can follow. */
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

  /** Stops the work of the provider. A waiting {@link next} rejects with `reason`. Has no effect after the end. */
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

/** The reason for stopping a completion when its reader has left. */
export const CLIENT_GONE = new Error('The client has left.');
/** Replaces the first text after it has been read. */
const TAKEN = { text: undefined };

/**
 * Whether the next route may succeed after this failure. A request that one provider rejects as invalid would also be
 * rejected by the next provider, or would be answered in an unintended way.
 */
function mayGoBetterElsewhere(error: unknown): boolean {
  return error instanceof ServiceError && error.code.startsWith('upstream_') && error.code !== 'upstream_rejected';
}

/** Returns the result for the circuit breaker. A provider that limits or rejects requests is available. */
function outcomeOf(error: unknown): AttemptOutcome {
  const code = error instanceof ServiceError ? error.code : undefined;
  if (code === 'upstream_timeout') return 'slow';
  return code === 'upstream_error' ? 'failed' : 'abandoned';
}
