import type { CompletionPart } from '../contract/stream-part.js';
import { nextPart, type PartReader } from './part-reader.js';

/** The beginning and the end of a stream of parts: it begins once or is refused, and it ends once. */
export abstract class PartStream implements PartReader {
  onReadable: () => void = () => undefined;
  abstract readonly accepted: Promise<void>;
  readonly started: Promise<void>;
  private resolveStarted!: () => void;
  private rejectStarted!: (failure: Error) => void;
  protected hasStarted = false;
  protected over = false;
  /** The failure that {@link throwFailure} has not thrown yet. */
  private failure: Error | undefined;

  constructor() {
    this.started = new Promise((resolve, reject) => {
      this.resolveStarted = resolve;
      this.rejectStarted = reject;
    });
    // The failure also reaches the reader. This handler prevents an unhandled rejection until then.
    this.started.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.over && this.failure === undefined && this.buffered === 0;
  }

  abstract get isWhole(): boolean;

  abstract read(): CompletionPart | undefined;

  abstract stop(reason: Error): void;

  abstract return(): Promise<IteratorResult<CompletionPart, undefined>>;

  next(): Promise<IteratorResult<CompletionPart, undefined>> {
    return nextPart(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The number of parts that wait for the reader. */
  protected abstract get buffered(): number;

  /** Called once at the end, with `undefined` on success. */
  protected abstract onEnd(failure: Error | undefined): void;

  protected begin(): void {
    this.hasStarted = true;
    this.resolveStarted();
  }

  /** Throws the failure of the stream, once. */
  protected throwFailure(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }

  protected fail(failure: Error): void {
    this.failure = failure;
    if (!this.hasStarted) this.rejectStarted(failure);
    this.end(failure);
  }

  protected end(failure: Error | undefined): void {
    if (this.over) return;
    this.over = true;
    this.onEnd(failure);
  }
}

/** Whether a reader sees this part of an answer. From the first such part on, no other route can be tried. */
export function beginsAnswer({ type }: CompletionPart): boolean {
  return type === 'text' || type === 'tool_call_start' || type === 'reasoning';
}
