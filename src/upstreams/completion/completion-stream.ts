import { factsOf, ServiceError } from '../../common/service-error.js';
import type { RouteConfig } from '../../config/config.js';
import type { CompletionPart } from '../contract/stream-part.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import type { Attempt } from './attempt.js';
import { PartStream } from './part-stream.js';

/** The reason for stopping a completion when its reader has left. */
export const CLIENT_GONE = new Error('The client has left.');

/** Starts an attempt at a route. The attempt calls `onChange` when there may be something to read. */
export type BeginAttempt = (route: RouteConfig, onChange: () => void) => Attempt;

/**
 * Streams the parts of one completion from the first route that returns text. When an attempt fails before its first text,
 * the stream tries the next route. A later failure is thrown, because text that was already sent must not be sent twice.
 */
export class CompletionStream extends PartStream {
  override readonly accepted: Promise<void>;
  private accept!: () => void;
  private current: Attempt | undefined;
  /** What the current route has sent before its first text. Another route may still replace it. */
  private early: CompletionPart[] = [];
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
    super();
    this.accepted = new Promise((resolve) => {
      this.accept = resolve;
    });
    this.tryNext();
  }

  /** True when the provider has marked the answer as complete. */
  get isComplete(): boolean {
    return this.complete;
  }

  override get isWhole(): boolean {
    return this.current?.isWhole ?? false;
  }

  override read(): CompletionPart | undefined {
    // What the first text was sent with is read even if the completion was stopped since.
    const part = this.hasBegun ? (this.early.shift() ?? this.readCurrent()) : undefined;
    if (part !== undefined) return part;
    this.throwFailure();
    return undefined;
  }

  override stop(reason: Error): void {
    if (this.over) return;
    this.current?.stop(reason);
    this.fail(reason);
    this.onReadable();
  }

  override return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.early = [];
    if (!this.over) {
      this.current?.stop(CLIENT_GONE);
      this.end(CLIENT_GONE);
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  protected override get held(): number {
    return this.early.length;
  }

  protected override whenOver(failure: Error | undefined): void {
    this.complete = failure === undefined;
    this.onOver(failure);
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
        this.early = [];
        // The next attempt may call back before it is known. The failed one then must not be read again.
        this.current = undefined;
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
        this.early.push(part);
        if (part.type === 'text' || part.type === 'reasoning') {
          this.noteBegun();
          return undefined;
        }
      }
    } catch (error) {
      return error as Error;
    }
  }
}

function mayWorkElsewhere(failure: Error): boolean {
  return failure instanceof ServiceError && factsOf(failure.code).mayWorkElsewhere === true;
}
