import { isAscii } from 'node:buffer';
import { ServiceError } from '../../platform/common/service-error.js';
import { DEFAULT_MAX_EVENT_BYTES } from '../../platform/config/config.js';
import type { Decoder, Framing, ProviderEvent } from '../contract/protocol.js';

const LF = 0x0a;
const SPACE = 0x20;
const OPENING_BRACE = 0x7b;

/**
 * Decodes one stream of server-sent events as the WHATWG standard says. The bytes may be split at any place. Passes on each
 * event as soon as its last byte arrives. There are three additions to the standard:
 *
 * - {@link end} also passes on an event without a final blank line, because providers leave out the last blank line.
 * - A field named `error` creates an event named `error`, with the value as its data. llama.cpp reports failures in this
 *   way.
 * - A line of JSON is the data of an event that has no data. Gateways send their own errors in this way, and without the line an answer
 *   with a missing piece would look complete.
 *
 * The decoder searches for line ends in the bytes as they are (Latin-1, one character for each byte). This works because
 * framing is ASCII, and no byte of a longer UTF-8 sequence looks like ASCII. Only lines with other characters than ASCII
 * are decoded, one whole line at a time. So a sequence that is split between two reads needs no special treatment. With a
 * streaming `TextDecoder` before the decoder, an ASCII event costs four times as much, and a CJK event costs the same.
 */
export class SseDecoder implements Decoder {
  /** The unfinished line, in Latin-1 pieces. The pieces are joined once, when the end of the line arrives. */
  private partialLine: string[] = [];
  private partialLength = 0;
  private partialIsAscii = true;
  private isFirstLine = true;
  /** True when the last read ended with a CR that ended a line. An LF that follows belongs to that line end. */
  private skipsLineFeed = false;

  private eventName = '';
  /** `undefined`: the event has no data yet. An event without data is ignored. */
  private data: string | undefined;
  private eventLength = 0;
  /** A line of JSON that is not the value of a field. */
  private bareJson: string | undefined;

  /** @param maxEventBytes the maximum number of bytes of one line, and of the data lines of one event. */
  constructor(
    private readonly onEvent: (event: ProviderEvent) => void,
    private readonly maxEventBytes = DEFAULT_MAX_EVENT_BYTES,
  ) {}

  /**
   * Decodes the next bytes.
   *
   * @throws {ServiceError} `upstream_error` for an event that is too large. Also throws the errors of `onEvent`. The
   * decoder cannot continue after an error.
   */
  write(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const raw = bytes.toString('latin1');
    // `undefined`: there is nothing to decode, because the characters of `raw` are the characters of the text.
    const encoded = isAscii(bytes) ? undefined : bytes;
    let start = 0;
    if (this.skipsLineFeed) {
      this.skipsLineFeed = false;
      if (raw.charCodeAt(0) === LF) start = 1;
    }
    const rest = raw.includes('\r', start)
      ? this.readAnyLines(raw, encoded, start)
      : this.readLines(raw, encoded, start);
    if (rest < raw.length) this.append(raw.slice(rest), encoded);
  }

  /** Ends the stream, and passes on the unfinished event. */
  end(): void {
    if (this.partialLength > 0) this.endPartialLine('', undefined);
    this.endEvent();
  }

  /** Reads lines that end in LF, the usual line end of providers. Returns the start of the unfinished line. */
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

  /** Whether the line at `start` holds all data of its event, if a blank line follows the line. */
  private isOnlyData(raw: string, start: number): boolean {
    return (
      raw.startsWith('data:', start) &&
      this.data === undefined &&
      this.bareJson === undefined &&
      this.partialLength === 0 &&
      !this.isFirstLine
    );
  }

  /** Reads lines that end in LF, CR or CRLF. Returns the start of the unfinished line. */
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

  private append(rest: string, encoded: Buffer | undefined): void {
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
      if (raw.charCodeAt(start) === OPENING_BRACE) this.bareJson ??= textOf(raw, encoded, start, end);
      else this.readBareField(raw.slice(start, end));
    }
  }

  /** Reads a line without a colon, which is a field without a value. Ignores comments and unknown fields. */
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
    const { eventName, data = this.bareJson } = this;
    this.eventName = '';
    this.bareJson = undefined;
    if (data === undefined) return;
    this.data = undefined;
    this.eventLength = 0;
    this.dispatch(eventName, data);
  }

  private dispatch(name: string, data: string): void {
    this.onEvent({ event: name === '' ? 'message' : name, data });
  }

  private checkLength(length: number): void {
    if (length > this.maxEventBytes) {
      throw new ServiceError('upstream_error', 'The provider sent an event that is too large.');
    }
  }
}

/** Server-sent events, the framing of most providers. */
export const sse: Framing = (onEvent, { maxEventBytes }) => new SseDecoder(onEvent, maxEventBytes);

/** Returns the start of a value. One space after the colon does not belong to the value. */
function afterColon(raw: string, index: number): number {
  return raw.charCodeAt(index) === SPACE ? index + 1 : index;
}

function textOf(raw: string, encoded: Buffer | undefined, start: number, end: number): string {
  return encoded === undefined ? raw.slice(start, end) : encoded.toString('utf8', start, end);
}
