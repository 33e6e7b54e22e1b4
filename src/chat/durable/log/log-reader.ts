import { ServiceError } from '../../../common/service-error.js';
import type { TextPart } from '../../../upstreams/contract/stream-part.js';
import { formatPosition } from '../identity/stream-position.js';
import type { StreamLog } from './stream-log.js';

/** The most text of one event, in UTF-16 units. The rest waits in the log until the client has read the event. */
const EVENT_LENGTH = 16 * 1024;

/** Reads a log from an offset: first the text that exists, then the text as it arrives. */
export class LogReader {
  onReadable: () => void = () => undefined;
  private failure: Error | undefined;
  private readonly unfollow: () => void;

  /**
   * @param tag begins each position of the stream.
   * @param offset the first unit to read. Inside of a code point, reading starts after the code point.
   * @param onRead called with the size of each text that {@link read} returns, in UTF-8.
   */
  constructor(
    private readonly log: StreamLog,
    private readonly tag: string,
    private offset: number,
    private readonly onRead: (bytes: number) => void = () => undefined,
  ) {
    this.unfollow = log.follow(() => {
      this.onReadable();
    });
  }

  /** The position after the text that {@link read} has returned last. */
  get position(): string {
    return formatPosition(this.tag, this.offset);
  }

  get isOver(): boolean {
    return this.failure === undefined && this.log.ending?.kind === 'done' && this.offset >= this.log.length;
  }

  get isWhole(): boolean {
    return this.isOver;
  }

  /** @throws the failure of the stream, after its text, or the reason given to {@link fail}. */
  read(): TextPart | undefined {
    if (this.failure !== undefined) throw this.failure;
    if (this.log.isEvicted && this.offset < this.log.length) throw notRetained();
    if (!this.log.isBoundary(this.offset)) this.offset += 1;
    const text = this.log.read(this.offset, EVENT_LENGTH);
    if (text !== undefined) {
      this.offset += text.length;
      this.onRead(Buffer.byteLength(text));
      return { type: 'text', text };
    }
    const { ending } = this.log;
    if (ending?.kind === 'failed') throw new ServiceError(ending.code, ending.message);
    return undefined;
  }

  /** Ends this reader, not the stream. The next {@link read} throws `reason`. */
  fail(reason: Error): void {
    this.failure ??= reason;
    this.onReadable();
  }

  return(): Promise<unknown> {
    this.unfollow();
    return Promise.resolve();
  }
}

function notRetained(): ServiceError {
  return new ServiceError('unavailable', 'The text of this stream is not kept any longer.');
}
