import type { CompletionPart } from '../contract/stream-part.js';

/** The reason for stopping a completion when its reader has left. */
export const CLIENT_GONE = new DOMException('The client has left.', 'AbortError');

/**
 * Reads the parts of one completion. There are two ways to read. A loop (`for await`) waits for each part. {@link read}
 * returns what has arrived, and {@link onReadable} is called when there is more: this costs no promise for each part. The parts
 * end only after the provider has marked the answer as complete.
 */
export interface PartReader extends AsyncIterableIterator<CompletionPart, undefined> {
  /** Called when {@link read} may return more, or throw. */
  onReadable: () => void;
  /** Resolves when a provider has accepted the request. Never rejects: {@link started} and {@link read} report failures. */
  readonly accepted: Promise<void>;
  /** Resolves at the first text, or when the answer is complete without text. Rejects when there is no answer. */
  readonly started: Promise<void>;
  /** True when the end is reached: {@link read} returns nothing more. */
  readonly isOver: boolean;
  /** True when {@link read} has returned the complete text, so that only the end can follow. */
  readonly isWhole: boolean;
  /**
   * Returns the next part that has arrived. Returns `undefined` when nothing has arrived, and at the end (see
   * {@link isOver}).
   *
   * @throws the reason why the answer is not complete. It is thrown once.
   */
  read(): CompletionPart | undefined;
  /** Stops the work of the provider. The next {@link read} throws `reason`. Has no effect after the end. */
  stop(reason: Error): void;
  /** Stops the work of the provider without an error for the reader. */
  return(): Promise<IteratorResult<CompletionPart, undefined>>;
}

/** Waits for the next part of a reader. Only one call at a time. @throws as {@link PartReader.read}. */
export function nextPart(reader: PartReader): Promise<IteratorResult<CompletionPart, undefined>> {
  return new Promise((resolve, reject) => {
    const readNext = (): void => {
      try {
        const value = reader.read();
        if (value !== undefined) resolve({ done: false, value });
        else if (reader.isOver) resolve({ done: true, value: undefined });
        else return;
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
      reader.onReadable = () => undefined;
    };
    reader.onReadable = readNext;
    readNext();
  });
}

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
