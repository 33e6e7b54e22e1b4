import { CLIENT_GONE, nextPart, type PartReader } from '../../../upstreams/completion/part-reader.js';
import type { CompletionPart } from '../../../upstreams/contract/stream-part.js';
import { LogReader } from '../log/log-reader.js';
import type { StreamLog } from '../log/stream-log.js';
import type { FactsLine, PartLine } from './part-lines.js';

/** Reads the parts of an answer from a log that `PartLines` has written: first those that exist, then those that arrive. */
export class PartLogReader implements PartReader {
  readonly accepted = Promise.resolve();
  readonly begun = Promise.resolve();
  /** The facts after the last part. `undefined` until {@link read} has passed them. */
  tail: unknown;
  private readonly texts: LogReader;
  /** The lines that have arrived. */
  private lines: string[] = [];
  /** The index of the first line that is not returned yet. */
  private lineIndex = 0;
  /** The beginning of a line whose rest has not arrived yet. */
  private rest = '';

  /** @param onRead called with the size of each text that the log returns, in UTF-8. */
  constructor(log: StreamLog, onRead?: (bytes: number) => void) {
    this.texts = new LogReader(log, '', 0, onRead);
  }

  get onReadable(): () => void {
    return this.texts.onReadable;
  }

  set onReadable(listener: () => void) {
    this.texts.onReadable = listener;
  }

  get isOver(): boolean {
    return this.texts.isOver && this.lineIndex >= this.lines.length;
  }

  get isWhole(): boolean {
    return this.isOver;
  }

  /** Returns the facts before the first part, as soon as they have arrived. Call this once, before {@link read}. */
  readHead(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        try {
          const line = this.nextLine();
          if (line === undefined) return;
          resolve((JSON.parse(line) as FactsLine).facts);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        this.onReadable = () => undefined;
      };
      this.onReadable = look;
      look();
    });
  }

  read(): CompletionPart | undefined {
    for (let line = this.nextLine(); line !== undefined; line = this.nextLine()) {
      const value = JSON.parse(line) as PartLine;
      if (typeof value === 'string') return { type: 'text', text: value };
      if (!('facts' in value)) return value;
      if (value.type === 'tail') this.tail = value.facts;
    }
    return undefined;
  }

  /** Ends this reader, not the generation. The next {@link read} throws `reason`. */
  stop(reason: Error): void {
    this.lines = [];
    this.lineIndex = 0;
    this.texts.fail(reason);
  }

  next(): Promise<IteratorResult<CompletionPart, undefined>> {
    return nextPart(this);
  }

  async return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.stop(CLIENT_GONE);
    await this.texts.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private nextLine(): string | undefined {
    while (this.lineIndex >= this.lines.length) {
      const part = this.texts.read();
      if (part === undefined) return undefined;
      const lines = `${this.rest}${part.text}`.split('\n');
      this.rest = lines.pop() ?? '';
      this.lines = lines;
      this.lineIndex = 0;
    }
    const line = this.lines[this.lineIndex];
    this.lineIndex += 1;
    return line;
  }
}
