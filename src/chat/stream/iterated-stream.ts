import { beginsAnswer, CLIENT_GONE, PartStream } from '../../upstreams/completion/part-stream.js';
import type { CompletionPart } from '../../upstreams/contract/stream-part.js';

/** What is behind an iteration: the completion that hooks change, or the completions of several steps. */
interface Iterated {
  /** Resolves when a provider has accepted the request. Never rejects. */
  readonly accepted: Promise<void>;
  /** True when all parts of a complete answer were returned. */
  readonly isComplete: boolean;
  stop(reason: Error): void;
}

/** The parts that code of a plugin iterates over. Reads one part ahead, so a slow reader slows the provider. */
export class IteratedStream extends PartStream {
  private readonly iterator: AsyncIterator<CompletionPart>;
  /** What the iteration has returned, and the reader has not read yet. Before the first text, these may be several parts. */
  private readonly waiting: CompletionPart[] = [];
  private isPulling = false;

  /**
   * @param name who iterates, for errors.
   * @param onOver called once, when the iteration has returned everything or something has failed.
   */
  constructor(
    private readonly name: string,
    private readonly inner: Iterated,
    wrapped: AsyncIterable<CompletionPart>,
    private readonly onOver: (failure?: unknown) => void,
  ) {
    super();
    this.iterator = wrapped[Symbol.asyncIterator]();
    this.pull();
  }

  override get accepted(): Promise<void> {
    return this.inner.accepted;
  }

  override get isWhole(): boolean {
    return this.over;
  }

  override read(): CompletionPart | undefined {
    const part = this.waiting.shift();
    if (part !== undefined) return part;
    this.throwFailure();
    this.pull();
    return undefined;
  }

  override stop(reason: Error): void {
    if (this.over) return;
    this.inner.stop(reason);
    this.fail(reason);
    this.onReadable();
  }

  override return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.waiting.length = 0;
    if (!this.over) {
      this.inner.stop(CLIENT_GONE);
      this.end(CLIENT_GONE);
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  protected override get buffered(): number {
    return this.waiting.length;
  }

  protected override onEnd(failure: Error | undefined): void {
    // Lets the `finally` blocks of the iteration run. One that waits ends only when its wait is over.
    if (failure !== undefined) this.iterator.return?.().catch(() => undefined);
    this.onOver(failure);
  }

  private pull(): void {
    if (this.isPulling || this.over) return;
    this.isPulling = true;
    this.iterator.next().then(
      (result) => {
        this.isPulling = false;
        if (this.over) return;
        if (result.done === true) this.finish();
        else this.take(result.value);
      },
      (error: unknown) => {
        this.isPulling = false;
        if (this.over) return;
        const failure = error instanceof Error ? error : new Error(`${this.name} failed`, { cause: error });
        this.inner.stop(failure);
        this.fail(failure);
        this.onReadable();
      },
    );
  }

  private take(part: CompletionPart): void {
    // A plugin may leave nothing of a text. An empty text is not part of the stream.
    const isEmpty = part.type === 'text' && part.text === '';
    if (!isEmpty) this.waiting.push(part);
    if (!isEmpty && beginsAnswer(part)) this.begin();
    if (this.hasStarted && !isEmpty) this.onReadable();
    else this.pull();
  }

  private finish(): void {
    if (this.inner.isComplete) {
      this.begin();
      this.end(undefined);
    } else {
      const failure = new Error(`${this.name} ended the parts before the answer was complete.`);
      this.inner.stop(failure);
      this.fail(failure);
    }
    this.onReadable();
  }
}
