import { ServiceError, type ErrorCode } from '../../../common/service-error.js';
import { isHighSurrogate, isLowSurrogate } from '../../../common/text/surrogates.js';
import type { Evictable, MemoryHold } from './memory-hold.js';
import type { StreamMemory } from './stream-memory.js';

/** The last event of a stream. */
export type Ending =
  { readonly kind: 'done' } | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

/** The reason why a claim is over although nothing has failed. Requests that wait for the stream claim the key again. */
export const CLAIM_RELEASED = new Error('The claim on the key was released.');

/** The reason why a running stream ends that has to give way. */
export function evictedStream(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The account uses the most memory for durable streams, and the memory is full.',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}

/** Small texts are joined up to this length, because each string has an overhead. In UTF-16 units. */
const PIECE_LENGTH = 4 * 1024;
/** The memory of a stream without its text: its objects, timers and keys. */
const STREAM_BYTES = 1024;

const RETRY_AFTER_SECONDS = 5;

interface Piece {
  readonly start: number;
  text: string;
}

/**
 * The text of one durable stream, from its first character. One side appends, and any number of readers follow, each from
 * an offset of its own. Offsets count UTF-16 units.
 *
 * A log waits, then begins, then ends. A log that never begins is abandoned.
 */
export class StreamLog implements Evictable {
  /** Resolves when the answer begins. Rejects when the log is abandoned, with the reason. */
  readonly begun: Promise<void>;
  length = 0;
  /** Bytes of the text in UTF-8. */
  bytes = 0;
  ending: Ending | undefined;
  hasBegun = false;
  /** Whether the text is not kept any longer, because the account of the stream uses the most memory. */
  isEvicted = false;
  /** Called when the log is evicted. */
  onEvicted: () => void = () => undefined;
  private resolveBegun!: () => void;
  private rejectBegun!: (reason: Error) => void;
  private pieces: Piece[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly memory: MemoryHold;

  /**
   * @param requestBytes memory of the request. It is held until the first text: until then, another provider may need it.
   * @param accountId the account that the memory counts for.
   * @throws {ServiceError} `unavailable` when the memory, or the share of the account, is full.
   */
  constructor(
    memory: StreamMemory,
    private requestBytes = 0,
    accountId = '',
  ) {
    this.memory = memory.open(accountId, STREAM_BYTES + requestBytes, this);
    this.begun = new Promise((resolve, reject) => {
      this.resolveBegun = resolve;
      this.rejectBegun = reject;
    });
    // The readers get the reason. Without readers, the rejection would be unhandled.
    this.begun.catch(() => undefined);
  }

  /** Whether somebody follows the log. */
  get isRead(): boolean {
    return this.listeners.size > 0;
  }

  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.resolveBegun();
    this.notify();
  }

  /** Rejects {@link begun}. Has no effect after the log has begun. */
  abandon(reason: Error): void {
    this.rejectBegun(reason);
  }

  /** @throws {ServiceError} `unavailable` when the memory is full. Nothing is appended then. */
  append(text: string): void {
    if (text === '' || this.ending !== undefined) return;
    const bytes = Buffer.byteLength(text);
    this.releaseRequest();
    this.memory.take(bytes);
    this.bytes += bytes;
    const last = this.pieces.at(-1);
    if (last !== undefined && last.text.length + text.length <= PIECE_LENGTH) last.text += text;
    else this.pieces.push({ start: this.length, text });
    this.length += text.length;
    this.notify();
  }

  /** Only the first call has an effect. */
  end(ending: Ending): void {
    if (this.ending !== undefined) return;
    this.ending = ending;
    this.releaseRequest();
    this.memory.end();
    this.notify();
  }

  /**
   * Returns the text from `offset`, at most `most` units, or `undefined` at the end of what has arrived. Never divides a
   * code point.
   */
  read(offset: number, maxLength: number): string | undefined {
    if (offset >= this.length) return undefined;
    const piece = this.pieceAt(offset);
    const from = offset - piece.start;
    const text = piece.text.slice(from, from + maxLength);
    const wasCut = from + text.length < piece.text.length;
    return wasCut && text.length > 1 && isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(0, -1) : text;
  }

  /** Whether `offset` lies between two code points. */
  isBoundary(offset: number): boolean {
    if (offset === 0 || offset >= this.length) return true;
    const [before = '', after = ''] = [this.read(offset - 1, 1), this.read(offset, 1)];
    return !(isHighSurrogate(before.charCodeAt(0)) && isLowSurrogate(after.charCodeAt(0)));
  }

  /**
   * Calls `listener` after each change.
   *
   * @returns a function that ends this.
   */
  follow(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Gives the memory back. The log stays readable for those who still have it. */
  release(): void {
    this.memory.close();
  }

  /** Ends the stream if it runs, and ends its readers. */
  evict(): void {
    this.isEvicted = true;
    const { code, message } = evictedStream();
    if (this.ending === undefined) this.end({ kind: 'failed', code, message });
    else this.notify();
    this.onEvicted();
  }

  private releaseRequest(): void {
    this.memory.release(this.requestBytes);
    this.requestBytes = 0;
  }

  private pieceAt(offset: number): Piece {
    let [low, high] = [0, this.pieces.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.pieces[middle] as Piece).start <= offset) low = middle;
      else high = middle - 1;
    }
    return this.pieces[low] as Piece;
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
