import { type ErrorCode, isHighSurrogate, ServiceError } from '../../../plugin-api/core/common.js';
import type { CompletionPart, TextPart } from '../../../plugin-api/core/upstreams.js';

import type { Evictable, MemoryReservation, StreamMemory } from './stream-memory.js';

/** The last event of a stream. `facts`: what a surface keeps with the end of an answer, as JSON. */
export type Ending =
  | { readonly kind: 'done'; readonly facts?: unknown }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

/** The reason why a claim is over although nothing has failed. Requests that wait for the stream claim the key again. */
export const CLAIM_RELEASED = new Error('The claim on the key was released.');

/** The reason why a running stream ends that has to give way. */
export function evictedStream(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The account uses the most memory for durable streams, and the memory is full.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Small texts are joined up to this length, because each string has an overhead. In UTF-16 units. */
const PIECE_LENGTH = 4 * 1024;
/** The memory of a stream without its parts: its objects, timers and keys. */
const STREAM_BYTES = 1024;
/** The memory of a part without its strings. */
const PART_BYTES = 64;
const RETRY_AFTER_SECONDS = 5;

/** A place in a log: the index of a part, and for a text the number of UTF-16 units before the place. */
export interface LogPlace {
  index: number;
  offset: number;
}

/**
 * The parts of one durable stream, from the first one. One side appends, and any number of readers follow, each from a place of
 * its own.
 *
 * A log waits, then begins, then ends. A log that never begins is abandoned.
 */
export class StreamLog implements Evictable {
  /** Resolves with {@link head} when the answer begins. Rejects when the log is abandoned, with the reason. */
  readonly started: Promise<unknown>;
  /** What a surface keeps with the beginning of an answer, as JSON. */
  head: unknown;
  /** The length of all texts, in UTF-16 units. */
  length = 0;
  /** The memory of the parts. For text, the bytes in UTF-8. */
  bytes = 0;
  ending: Ending | undefined;
  hasStarted = false;
  /** Whether the parts are not kept any longer, because the account of the stream uses the most memory. */
  isEvicted = false;
  /** Whether the log is over, and its ending is unknown. Its readers are disconnected, so that they come again. */
  isDisconnected = false;
  /** Whether small texts are joined. Otherwise each reader gets the parts as they were appended. */
  joinsTexts = true;
  /** Called when the log is evicted. */
  onEvicted: () => void = () => undefined;
  private resolveStarted!: (head: unknown) => void;
  private rejectStarted!: (reason: Error) => void;
  private readonly parts: CompletionPart[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly memory: MemoryReservation;

  /**
   * @param requestBytes memory of the request. It is held until the first part: until then, another provider may need it.
   * @param accountId the account that the memory counts for.
   * @throws {ServiceError} `unavailable` when the memory, or the share of the account, is full.
   */
  constructor(
    memory: StreamMemory,
    private requestBytes = 0,
    accountId = '',
  ) {
    this.memory = memory.open(accountId, STREAM_BYTES + requestBytes, this);
    this.started = new Promise((resolve, reject) => {
      this.resolveStarted = resolve;
      this.rejectStarted = reject;
    });
    // The readers get the reason. Without readers, the rejection would be unhandled.
    this.started.catch(() => undefined);
  }

  /** Whether somebody follows the log. */
  get isRead(): boolean {
    return this.listeners.size > 0;
  }

  begin(head?: unknown): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.head = head;
    this.resolveStarted(head);
    this.notify();
  }

  /** Rejects {@link started}. Has no effect after the log has begun. */
  abandon(reason: Error): void {
    this.rejectStarted(reason);
  }

  /** @throws {ServiceError} `unavailable` when the memory is full. Nothing is appended then. */
  append(part: CompletionPart): void {
    if (this.ending !== undefined) return;
    const bytes = part.type === 'text' && this.joinsTexts ? Buffer.byteLength(part.text) : bytesOf(part);
    this.releaseRequest();
    this.memory.take(bytes);
    this.bytes += bytes;
    const last = this.parts.at(-1);
    if (part.type === 'text') this.length += part.text.length;
    if (this.joinsTexts && part.type === 'text' && last?.type === 'text' && isShort(last, part)) {
      this.parts[this.parts.length - 1] = { type: 'text', text: last.text + part.text };
    } else this.parts.push(part);
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

  disconnect(): void {
    this.isDisconnected = true;
    this.memory.end();
    this.notify();
  }

  /**
   * Returns the next part, or at most `maxLength` units of a text, and moves the place behind it. Never divides a code point.
   * Returns `undefined` at the end of what has arrived.
   */
  read(place: LogPlace, maxLength: number): CompletionPart | undefined {
    for (;;) {
      const part = this.parts[place.index];
      if (part === undefined) return undefined;
      if (part.type !== 'text') {
        place.index += 1;
        return part;
      }
      if (place.offset < part.text.length) {
        const text = wholeCodePoints(part.text, place.offset, maxLength);
        place.offset += text.length;
        return text.length === part.text.length ? part : { type: 'text', text };
      }
      // More text may follow in the last part.
      if (place.index + 1 >= this.parts.length) return undefined;
      place.index += 1;
      place.offset = 0;
    }
  }

  /** Whether everything before the place is all that has arrived. */
  isAtEnd({ index, offset }: LogPlace): boolean {
    const part = this.parts[index];
    if (part === undefined) return true;
    return part.type === 'text' && offset >= part.text.length && index + 1 >= this.parts.length;
  }

  /** Returns everything between two places that {@link read} has reached. */
  between(from: LogPlace, to: LogPlace): CompletionPart[] {
    const found: CompletionPart[] = [];
    for (let { index } = from; index <= to.index; index++) {
      const part = this.parts[index];
      if (part?.type === 'text') {
        const end = index === to.index ? to.offset : part.text.length;
        const text = part.text.slice(index === from.index ? from.offset : 0, end);
        if (text !== '') found.push({ type: 'text', text });
      } else if (part !== undefined && index < to.index) found.push(part);
    }
    return found;
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

  /** Takes the parts from the readers that have not read them. */
  evict(): void {
    this.isEvicted = true;
    this.notify();
    this.onEvicted();
  }

  private releaseRequest(): void {
    this.memory.release(this.requestBytes);
    this.requestBytes = 0;
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

function isShort(one: TextPart, other: TextPart): boolean {
  return one.text.length + other.text.length <= PIECE_LENGTH;
}

function wholeCodePoints(text: string, offset: number, maxLength: number): string {
  const piece = text.slice(offset, offset + maxLength);
  const wasCut = offset + piece.length < text.length;
  return wasCut && piece.length > 1 && isHighSurrogate(piece.charCodeAt(piece.length - 1)) ? piece.slice(0, -1) : piece;
}

function bytesOf(part: CompletionPart): number {
  let bytes = PART_BYTES;
  for (const value of Object.values(part) as unknown[])
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
  return bytes;
}
