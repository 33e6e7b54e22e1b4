import { isAscii } from 'node:buffer';
import { ServiceError } from '../common/service-error.js';
import { DEFAULT_MAX_EVENT_BYTES } from '../config/config.js';
import type { ServerSentEvent } from './protocol.js';

export interface SseDecoderOptions {
  /** Most bytes of one line, and of the data lines of one event. */
  readonly maxEventLength?: number;
}

const LF = 0x0a;
const SPACE = 0x20;

/**
 * Decodes one stream of server-sent events as the WHATWG standard says, whatever the bytes are split into, and hands on
 * each event as soon as the byte that ends it is there. Beyond the standard:
 *
 * - {@link end} also hands on what no blank line ended: vendors leave the last one out.
 * - A field named `error` makes an event of that name, with its value as data: llama.cpp tells of failures so.
 *
 * Framing is ASCII, and no byte of a longer UTF-8 sequence looks like ASCII. So lines are found in the bytes as they are
 * (Latin-1, one character a byte), and only what holds more than ASCII is decoded, a whole line at a time: a sequence
 * that is split between two reads needs no care. With a streaming `TextDecoder` before it, an event of ASCII costs four
 * times as much, and one of CJK text the same.
 */
export class SseDecoder {
  private readonly maxEventLength: number;

  /** The line that the reads so far did not end, byte by character. Joined once, when its end is there. */
  private partialLine: string[] = [];
  private partialLength = 0;
  private partialIsAscii = true;
  private isFirstLine = true;
  /** The last read ended in a CR, which ended a line: an LF that follows belongs to it. */
  private skipsLineFeed = false;

  private eventName = '';
  /** `undefined`: the event has no data yet, so it is none. */
  private data: string | undefined;
  private eventLength = 0;

  constructor(
    private readonly onEvent: (event: ServerSentEvent) => void,
    options: SseDecoderOptions = {},
  ) {
    this.maxEventLength = options.maxEventLength ?? DEFAULT_MAX_EVENT_BYTES;
  }

  /** Throws `upstream_error` for an event that is too large, and what `onEvent` throws; the stream is lost then. */
  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const raw = buffer.toString('latin1');
    // `undefined`: nothing to decode, the characters of `raw` are those of the text.
    const encoded = isAscii(buffer) ? undefined : buffer;
    let start = 0;
    if (this.skipsLineFeed) {
      this.skipsLineFeed = false;
      if (raw.charCodeAt(0) === LF) start = 1;
    }
    const rest = raw.includes('\r', start)
      ? this.readAnyLines(raw, encoded, start)
      : this.readLines(raw, encoded, start);
    if (rest < raw.length) this.keep(raw.slice(rest), encoded);
  }

  /** The stream is over: hands on the event that it left open. */
  end(): void {
    if (this.partialLength > 0) this.endPartialLine('', undefined);
    this.endEvent();
  }

  /** Lines that end in LF, which is what vendors send. Gives where the unfinished line starts. */
  private readLines(raw: string, encoded: Buffer | undefined, from: number): number {
    let start = from;
    for (let end = raw.indexOf('\n', start); end !== -1; end = raw.indexOf('\n', start)) {
      if (raw.charCodeAt(end + 1) === LF && this.isOnlyData(raw, start)) {
        this.checkLength(end - start);
        const name = this.eventName;
        this.eventName = '';
        this.dispatch(name, textOf(raw, encoded, afterColon(raw, start + 5), end));
        start = end + 2;
      } else {
        this.endLine(raw, encoded, start, end);
        start = end + 1;
      }
    }
    return start;
  }

  /** Whether the line at `start` holds all the data of its event, if a blank line follows. */
  private isOnlyData(raw: string, start: number): boolean {
    return raw.startsWith('data:', start) && this.data === undefined && this.partialLength === 0 && !this.isFirstLine;
  }

  /** Lines that end in LF, CR or CRLF. */
  private readAnyLines(raw: string, encoded: Buffer | undefined, from: number): number {
    let start = from;
    let nextCr = raw.indexOf('\r', start);
    let nextLf = raw.indexOf('\n', start);
    while (nextCr !== -1 || nextLf !== -1) {
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf);
      const end = isCr ? nextCr : nextLf;
      this.endLine(raw, encoded, start, end);
      start = end + 1;
      if (isCr) {
        if (start === raw.length) this.skipsLineFeed = true;
        else if (raw.charCodeAt(start) === LF) start++;
        nextCr = raw.indexOf('\r', start);
      }
      if (nextLf !== -1 && nextLf < start) nextLf = raw.indexOf('\n', start);
    }
    return start;
  }

  private keep(rest: string, encoded: Buffer | undefined): void {
    this.partialLine.push(rest);
    if (encoded !== undefined) this.partialIsAscii = false;
    this.partialLength += rest.length;
    this.checkLength(this.partialLength);
  }

  private endLine(raw: string, encoded: Buffer | undefined, start: number, end: number): void {
    if (this.partialLength > 0) this.endPartialLine(raw.slice(start, end), encoded);
    else this.readLine(raw, encoded, start, end);
  }

  private endPartialLine(rest: string, encoded: Buffer | undefined): void {
    this.partialLine.push(rest);
    const raw = this.partialLine.join('');
    const isOnlyAscii = this.partialIsAscii && encoded === undefined;
    this.partialLine = [];
    this.partialLength = 0;
    this.partialIsAscii = true;
    this.readLine(raw, isOnlyAscii ? undefined : Buffer.from(raw, 'latin1'), 0, raw.length);
  }

  private readLine(raw: string, encoded: Buffer | undefined, lineStart: number, end: number): void {
    let start = lineStart;
    if (this.isFirstLine) {
      this.isFirstLine = false;
      if (raw.startsWith('\u00ef\u00bb\u00bf', start)) start += 3;
    }
    if (start === end) {
      this.endEvent();
      return;
    }
    const length = end - start;
    this.checkLength(length);
    if (raw.startsWith('data:', start)) {
      this.addData(textOf(raw, encoded, afterColon(raw, start + 5), end), length);
    } else if (raw.startsWith('event:', start)) {
      this.eventName = textOf(raw, encoded, afterColon(raw, start + 6), end);
    } else if (raw.startsWith('error:', start)) {
      this.eventName = 'error';
      this.addData(textOf(raw, encoded, afterColon(raw, start + 6), end), length);
    } else {
      this.readBareField(raw.slice(start, end));
    }
  }

  /** A line without a colon is a field without a value. All else is a comment or a field that says nothing to us. */
  private readBareField(line: string): void {
    if (line === 'event') this.eventName = '';
    else if (line === 'error') this.eventName = 'error';
    if (line === 'data' || line === 'error') this.addData('', line.length);
  }

  private addData(value: string, lineLength: number): void {
    this.eventLength += lineLength;
    this.checkLength(this.eventLength);
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }

  private endEvent(): void {
    const { eventName, data } = this;
    this.eventName = '';
    if (data === undefined) return;
    this.data = undefined;
    this.eventLength = 0;
    this.dispatch(eventName, data);
  }

  private dispatch(name: string, data: string): void {
    this.onEvent({ event: name === '' ? 'message' : name, data });
  }

  private checkLength(length: number): void {
    if (length > this.maxEventLength) {
      throw new ServiceError('upstream_error', 'The vendor sent an event that is too large.');
    }
  }
}

/** Where a value starts: one space after the colon is not part of it. */
function afterColon(raw: string, index: number): number {
  return raw.charCodeAt(index) === SPACE ? index + 1 : index;
}

function textOf(raw: string, encoded: Buffer | undefined, start: number, end: number): string {
  return encoded === undefined ? raw.slice(start, end) : encoded.toString('utf8', start, end);
}
