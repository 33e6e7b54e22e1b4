import { factsOf, ServiceError } from '../../common/service-error.js';
import type { RouteConfig } from '../../config/config.js';
import type { CompletionPart } from '../contract/stream-part.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import type { Attempt } from './attempt.js';
import { nextPart, type PartReader } from './part-reader.js';

/** The reason for stopping a completion when its reader has left. */
export const CLIENT_GONE = new Error('The client has left.');

/** Starts an attempt at a route. The attempt calls `onChange` when there may be something to read. */
export type BeginAttempt = (route: RouteConfig, onChange: () => void) => Attempt;

/**
 * Streams the parts of one completion from the first route that returns text. When an attempt fails before its first text,
 * the stream tries the next route. A later failure is thrown, because text that was already sent must not be sent twice.
 */
export class CompletionStream implements PartReader {
  onReadable: () => void = () => undefined;
  readonly accepted: Promise<void>;
  readonly begun: Promise<void>;
  private accept!: () => void;
  private begin!: () => void;
  private refuse!: (failure: Error) => void;
  private current: Attempt | undefined;
  /** What the current route has sent before its first text. Another route may still replace it. */
  private held: CompletionPart[] = [];
  private hasBegun = false;
  /** The failure that {@link read} has not thrown yet. */
  private failure: Error | undefined;
  private over = false;
  private complete = false;

  /**
   * @param routes the routes to try. May throw when there is no route to try.
   * @param onOver called once at the end of the completion, with `undefined` on success, or with the failure otherwise.
   */
  constructor(
    private readonly routes: Iterator<RouteConfig>,
    private readonly attempt: BeginAttempt,
    private readonly onOver: (failure?: unknown) => void,
  ) {
    this.accepted = new Promise((resolve) => {
      this.accept = resolve;
    });
    this.begun = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.refuse = reject;
    });
    // The failure also reaches the reader. This handler prevents an unhandled rejection until then.
    this.begun.catch(() => undefined);
    this.tryNext();
  }

  get isOver(): boolean {
    return this.over && this.failure === undefined && this.held.length === 0;
  }

  /** True when the provider has marked the answer as complete. */
  get isComplete(): boolean {
    return this.complete;
  }

  get isWhole(): boolean {
    return this.current?.isWhole ?? false;
  }

  read(): CompletionPart | undefined {
    // What the first text was sent with is read even if the completion was stopped since.
    const part = this.hasBegun ? (this.held.shift() ?? this.readCurrent()) : undefined;
    if (part !== undefined) return part;
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    return undefined;
  }

  next(): Promise<IteratorResult<CompletionPart, undefined>> {
    return nextPart(this);
  }

  stop(reason: Error): void {
    if (this.over) return;
    this.current?.stop(reason);
    this.fail(reason);
    this.onReadable();
  }

  return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.held = [];
    if (!this.over) {
      this.current?.stop(CLIENT_GONE);
      this.end(CLIENT_GONE);
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private readonly changed = (): void => {
    if (!this.hasBegun && !this.over) this.look();
    if (this.hasBegun || this.over) this.onReadable();
  };

  private readCurrent(): CompletionPart | undefined {
    if (this.over) return undefined;
    const { current } = this;
    try {
      const part = current?.read();
      if (part === undefined && current?.isOver === true) this.end(undefined);
      return part;
    } catch (error) {
      this.fail(error as Error);
      return undefined;
    }
  }

  /** Tries routes until one of them waits for its provider, or has begun. */
  private tryNext(lastFailure?: Error): void {
    let failure = lastFailure;
    while (!this.over && !this.hasBegun) {
      try {
        const next = this.routes.next();
        if (next.done === true) throw failure ?? new Error('The model has no route.');
        this.held = [];
        this.current = this.attempt(next.value, this.changed);
      } catch (error) {
        this.fail(unexpectedFailure(error));
        return;
      }
      failure = this.failureBeforeText();
      if (failure === undefined) return;
      if (!mayWorkElsewhere(failure)) this.fail(failure);
    }
  }

  /** Looks at what the current route has sent, and tries the next route if it has failed. */
  private look(): void {
    const failure = this.failureBeforeText();
    if (failure === undefined) return;
    if (mayWorkElsewhere(failure)) this.tryNext(failure);
    else this.fail(failure);
  }

  /** Reads up to the first text. Returns the failure of the attempt, if it has failed. */
  private failureBeforeText(): Error | undefined {
    const { current } = this;
    if (current === undefined) return undefined;
    try {
      for (;;) {
        const part = current.read();
        if (current.isAccepted) this.accept();
        if (part === undefined) {
          if (current.isOver) this.noteBegun();
          return undefined;
        }
        this.held.push(part);
        if (part.type === 'text' || part.type === 'reasoning') {
          this.noteBegun();
          return undefined;
        }
      }
    } catch (error) {
      return error as Error;
    }
  }

  private noteBegun(): void {
    this.hasBegun = true;
    this.begin();
  }

  private fail(failure: Error): void {
    this.failure = failure;
    if (!this.hasBegun) this.refuse(failure);
    this.end(failure);
  }

  private end(failure: Error | undefined): void {
    if (this.over) return;
    this.over = true;
    this.complete = failure === undefined;
    this.onOver(failure);
  }
}

function mayWorkElsewhere(failure: Error): boolean {
  return failure instanceof ServiceError && factsOf(failure.code).mayWorkElsewhere === true;
}
