import { ServiceError } from '../../platform/common/service-error.js';
import type { Decoder, ProviderEvent, Framing } from '../contract/protocol.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** The first bytes of an object, and of a list of objects. */
const BEGINNINGS: ReadonlySet<number | undefined> = new Set([OPEN, 0x5b]);
/** White space, and the byte order mark. */
const BEFORE_BEGINNING: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/**
 * Whether a body is JSON, and not a stream of events: some servers answer whole, although the request asks for a stream. Returns
 * `undefined` if the bytes do not show it yet.
 */
export function isJsonBody(bytes: Buffer): boolean | undefined {
  const first = bytes.find((byte) => !BEFORE_BEGINNING.has(byte));
  return first === undefined ? undefined : BEGINNINGS.has(first);
}

/**
 * Decodes JSON objects, whatever stands around them: one object on one or several lines, or a list of objects. Each object is one event
 * named `message`, and is passed on as soon as its last byte arrives. The bytes may be split at any place.
 */
export class JsonObjectsDecoder implements Decoder {
  /** The pieces of the unfinished object. */
  private pieces: Buffer[] = [];
  private length = 0;
  private depth = 0;
  private isInText = false;
  private isEscaped = false;

  constructor(
    private readonly onEvent: (event: ProviderEvent) => void,
    private readonly maxEventBytes: number,
  ) {}

  write(bytes: Buffer): void {
    let start = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const wasInObject = this.depth > 0;
      this.readByte(bytes[at] ?? 0);
      if (!wasInObject && this.depth > 0) start = at;
      if (!wasInObject || this.depth > 0) continue;
      this.append(bytes.subarray(start, at + 1));
      this.endObject();
    }
    if (this.depth > 0) this.append(bytes.subarray(start));
  }

  /** Passes on an unfinished object, too: the reader finds that it is not JSON. */
  end(): void {
    if (this.depth > 0) this.endObject();
  }

  private readByte(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (this.isInText) {
      if (byte === BACKSLASH) this.isEscaped = true;
      else if (byte === QUOTE) this.isInText = false;
    } else if (byte === OPEN) this.depth += 1;
    else if (this.depth > 0) {
      if (byte === QUOTE) this.isInText = true;
      else if (byte === CLOSE) this.depth -= 1;
    }
  }

  private append(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > this.maxEventBytes) {
      throw new ServiceError('upstream_error', 'The provider sent an event that is too large.');
    }
    this.pieces.push(piece);
  }

  private endObject(): void {
    const { pieces, length } = this;
    this.pieces = [];
    this.length = 0;
    this.onEvent({ event: 'message', data: Buffer.concat(pieces, length).toString() });
  }
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Decodes lines of JSON. Each line that is not empty is one event named `message`. {@link end} also passes on a line without
 * a line end, because providers leave out the last one. The bytes may be split at any place: a line is decoded as a whole,
 * so a character is never decoded in two halves.
 */
class NdjsonDecoder implements Decoder {
  /** The pieces of the unfinished line. */
  private pieces: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly onEvent: (event: ProviderEvent) => void,
    private readonly maxEventBytes: number,
  ) {}

  write(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      this.append(bytes.subarray(start, end));
      this.endLine();
      start = end + 1;
    }
    if (start < bytes.length) this.append(bytes.subarray(start));
  }

  end(): void {
    this.endLine();
  }

  private append(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > this.maxEventBytes) {
      throw new ServiceError('upstream_error', 'The provider sent an event that is too large.');
    }
    this.pieces.push(piece);
  }

  private endLine(): void {
    const { pieces, length } = this;
    if (length === 0) return;
    this.pieces = [];
    this.length = 0;
    const line = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length);
    const end = line.at(-1) === CR ? length - 1 : length;
    if (end > 0) this.onEvent({ event: 'message', data: line.toString('utf8', 0, end) });
  }
}

/**
 * One JSON value for each line, as Ollama sends it.
 *
 * @since 1.0
 */
export const ndjson: Framing = (onEvent, { maxEventBytes }) => new NdjsonDecoder(onEvent, maxEventBytes);
