import type { Ending, LogPlace, StreamLog } from '../../log/stream-log.js';
import type { StreamCipher } from './stream-cipher.js';

/** An entry with this much text is full. In UTF-16 units. */
const ENTRY_LENGTH = 16 * 1024;

/**
 * Divides a log into the entries that Redis gets: the head, parts, and the ending. An entry that was sent once stays as it is, because
 * Redis may have it.
 */
export class LogEntries {
  /** The place at which each entry with parts starts. The first one is the second entry of all. */
  private readonly starts: LogPlace[] = [{ index: 0, offset: 0 }];
  private length = 0;

  constructor(
    private readonly log: StreamLog,
    private readonly cipher: StreamCipher,
  ) {}

  /** The text that is in no entry yet, in UTF-16 units. */
  get waitingLength(): number {
    return this.log.length - this.length;
  }

  /** The number of entries so far, without the ending. */
  get count(): number {
    return this.starts.length;
  }

  /** Whether all parts are in entries. */
  get hasAll(): boolean {
    return this.log.isAtEnd(this.starts.at(-1) as LogPlace);
  }

  /** Returns the first entry. */
  head(): Buffer {
    return this.cipher.sealEntry({ head: this.log.head }, 0);
  }

  /** Returns the entry after `written` entries, or '' if there is none. `isEnd`: the entry is the ending. */
  next(written: number, ending: Ending | undefined): readonly [entry: Buffer | '', isEnd: boolean] {
    if (written === 0) return [this.head(), false];
    const from = this.starts[written - 1] as LogPlace;
    const to = this.starts[written] ?? this.endOfEntry(from);
    if (to.index !== from.index || to.offset !== from.offset) {
      this.starts[written] = to;
      return [this.cipher.sealEntry({ parts: this.log.between(from, to) }, written), false];
    }
    return ending === undefined ? ['', false] : [this.cipher.sealEntry({ ending }, written), true];
  }

  private endOfEntry(from: LogPlace): LogPlace {
    const to = { ...from };
    let length = 0;
    while (length < ENTRY_LENGTH) {
      const part = this.log.read(to, ENTRY_LENGTH);
      if (part === undefined) break;
      length += part.type === 'text' ? part.text.length : 1;
      if (part.type === 'text') this.length += part.text.length;
    }
    return to;
  }
}
