import { EndUnknown } from '../../../plugin-api/core/chat.js';
import { isHighSurrogate, isLowSurrogate, ServiceError } from '../../../plugin-api/core/common.js';
import { CLIENT_GONE, type CompletionPart, nextPart, type PartReader } from '../../../plugin-api/core/upstreams.js';
import { formatPosition, positionTag } from '../stream-identity.js';
import type { Ending, LogPlace, StreamLog } from './stream-log.js';

/** The most text of one event, in UTF-16 units. The rest waits in the log until the client has read the event. */
const EVENT_LENGTH = 16 * 1024;

/** Where a reader gets the parts of one stream from, in order: the memory of this process, or Redis. */
export interface LoggedParts {
  /** Called when there may be more to read. */
  onMore: () => void;
  /** Resolves with the facts before the first part when the answer begins. Rejects when there is no answer. */
  readonly started: Promise<unknown>;
  /** Known at the latest when {@link isEmpty} and the stream is over. */
  readonly ending: Ending | undefined;
  /** Whether {@link read} has returned everything that has arrived. */
  readonly isEmpty: boolean;
  /**
   * Returns the next part, or a piece of a text. Returns `undefined` when nothing has arrived.
   *
   * @throws {Error} when the parts cannot be read any longer.
   */
  read(maxLength: number): CompletionPart | undefined;
  close(): void;
}

/** Reads the log of a stream in this process. A slow reader keeps only its place. */
export class LogSource implements LoggedParts {
  onMore: () => void = () => undefined;
  readonly started: Promise<unknown>;
  readonly close: () => void;
  private readonly place: LogPlace = { index: 0, offset: 0 };

  constructor(private readonly log: StreamLog) {
    this.started = log.started;
    this.close = log.follow(() => {
      this.onMore();
    });
  }

  get ending(): Ending | undefined {
    return this.log.ending;
  }

  get isEmpty(): boolean {
    return this.log.isAtEnd(this.place);
  }

  read(maxLength: number): CompletionPart | undefined {
    if (this.log.isEvicted && !this.isEmpty) throw notRetained();
    if (this.log.isDisconnected && this.isEmpty) throw new EndUnknown();
    return this.log.read(this.place, maxLength);
  }
}

/** Reads a stream for one client: first the parts that exist, then the parts as they arrive. */
export class LogReader implements PartReader {
  onReadable: () => void = () => undefined;
  readonly accepted = Promise.resolve();
  readonly started = Promise.resolve();
  private failure: Error | undefined;
  /** The number of UTF-16 units of text that are read. */
  private offset = 0;
  private lastUnit = NaN;
  private readonly tag: string;

  /**
   * @param id the id of the stream.
   * @param from the number of UTF-16 units of text to skip, with the parts between them. Inside of a code point, reading starts
   * after the code point.
   * @param onRead called with the size of each text that {@link read} returns, in UTF-8.
   */
  constructor(
    private readonly source: LoggedParts,
    id: string,
    private readonly from = 0,
    private readonly onRead: (bytes: number) => void = () => undefined,
  ) {
    this.tag = positionTag(id);
    source.onMore = () => {
      this.onReadable();
    };
  }

  /** The position after the text that {@link read} has returned last. */
  get position(): string {
    return formatPosition(this.tag, this.offset);
  }

  get isOver(): boolean {
    return this.failure === undefined && this.source.ending?.kind === 'done' && this.source.isEmpty;
  }

  get isWhole(): boolean {
    return this.isOver;
  }

  /** The facts that are kept with the end of the answer. `undefined` before the end. */
  get endFacts(): unknown {
    const { ending } = this.source;
    return ending?.kind === 'done' ? ending.facts : undefined;
  }

  /** Whether the stream has failed, and not only this reader. */
  get hasStreamFailed(): boolean {
    return this.source.ending?.kind === 'failed';
  }

  /** @throws the failure of the stream, after its parts, or the reason given to {@link stop}. */
  read(): CompletionPart | undefined {
    if (this.failure !== undefined) throw this.failure;
    for (let part = this.source.read(EVENT_LENGTH); part !== undefined; part = this.source.read(EVENT_LENGTH)) {
      const isSkipped = this.offset < this.from;
      if (part.type !== 'text') {
        if (!isSkipped) return part;
        continue;
      }
      const text = this.unread(part.text);
      if (text === '') continue;
      this.onRead(Buffer.byteLength(text));
      return text.length === part.text.length ? part : { type: 'text', text };
    }
    const { ending } = this.source;
    if (ending?.kind === 'failed' && this.source.isEmpty) throw new ServiceError(ending.code, ending.message);
    return undefined;
  }

  /** Ends this reader, not the generation. The next {@link read} throws `reason`. */
  stop(reason: Error): void {
    this.failure ??= reason;
    this.onReadable();
  }

  next(): Promise<IteratorResult<CompletionPart, undefined>> {
    return nextPart(this);
  }

  return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.failure ??= CLIENT_GONE;
    this.source.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Moves the offset behind a text, and returns what is not to be skipped. */
  private unread(text: string): string {
    let skipped = Math.max(0, Math.min(text.length, this.from - this.offset));
    const before = skipped > 0 ? text.charCodeAt(skipped - 1) : this.lastUnit;
    const isInside = this.offset + skipped === this.from && isHighSurrogate(before);
    if (isInside && isLowSurrogate(text.charCodeAt(skipped))) skipped += 1;
    this.offset += text.length;
    if (this.offset <= this.from) this.lastUnit = text.charCodeAt(text.length - 1);
    return text.slice(skipped);
  }
}

/** The error of a reader whose text is dropped. */
export function notRetained(): ServiceError {
  return new ServiceError('unavailable', 'The text of this stream is not kept any longer.');
}
