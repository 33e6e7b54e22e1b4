import { crc32 } from 'node:zlib';
import type { Decoder, Framing, ProviderEvent } from '../contract/protocol.js';
import { providerFailure } from '../contract/provider-failure.js';

/** The length of the message, the length of its headers, and the checksum of both. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MIN_MESSAGE_BYTES = PRELUDE_BYTES + CHECKSUM_BYTES;

/** The types of headers whose values have their size before them. */
const BYTES = 6;
const TEXT = 7;
/** The sizes of the values of the other types: `true`, `false`, numbers of 1, 2, 4 and 8 bytes, a time, and a UUID. */
const SIZES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };

/**
 * Decodes the messages of `application/vnd.amazon.eventstream`, and checks both checksums of each. The lengths are checked before the
 * rest of a message is awaited, so that a wrong length cannot hold a stream. Looked up on 2026-11-26 in "Amazon event stream
 * specification" of Smithy (smithy.io/2.0/aws/amazon-eventstream.html).
 */
class AwsEventStreamDecoder implements Decoder {
  private pieces: Buffer[] = [];
  private length = 0;
  /** The number of bytes to wait for: a prelude, and then the whole message. */
  private needed = PRELUDE_BYTES;

  constructor(
    private readonly onEvent: (event: ProviderEvent) => void,
    private readonly maxEventBytes: number,
  ) {}

  write(bytes: Buffer): void {
    this.pieces.push(bytes);
    this.length += bytes.length;
    while (this.length >= this.needed) this.read(this.joined());
  }

  /** The rest is a message that is not whole. */
  end(): void {
    this.pieces = [];
  }

  private joined(): Buffer {
    const [first = Buffer.alloc(0)] = this.pieces;
    const all = this.pieces.length === 1 ? first : Buffer.concat(this.pieces, this.length);
    this.pieces = [all];
    return all;
  }

  private read(all: Buffer): void {
    if (this.needed === PRELUDE_BYTES) {
      this.needed = this.checkedLength(all);
      return;
    }
    const message = all.subarray(0, this.needed);
    this.pieces = [all.subarray(this.needed)];
    this.length -= this.needed;
    this.needed = PRELUDE_BYTES;
    const end = message.length - CHECKSUM_BYTES;
    if (message.readUInt32BE(end) !== crc32(message.subarray(0, end))) throw invalid('has a wrong checksum');
    const headersEnd = PRELUDE_BYTES + message.readUInt32BE(4);
    this.onEvent(
      eventOf(headersOf(message.subarray(PRELUDE_BYTES, headersEnd)), message.toString('utf8', headersEnd, end)),
    );
  }

  private checkedLength(all: Buffer): number {
    const length = all.readUInt32BE(0);
    if (all.readUInt32BE(8) !== crc32(all.subarray(0, 8))) throw invalid('has a wrong checksum of its lengths');
    if (length < MIN_MESSAGE_BYTES + all.readUInt32BE(4)) throw invalid('is shorter than its headers');
    if (length > this.maxEventBytes) throw invalid('is too large');
    return length;
  }
}

/** The event stream of AWS. Each message is one event. An exception is an event named `error` with its name as `type`. */
export const awsEventStream: Framing = (onEvent, { maxEventBytes }) =>
  new AwsEventStreamDecoder(onEvent, maxEventBytes);

function eventOf(headers: ReadonlyMap<string, string>, payload: string): ProviderEvent {
  switch (headers.get(':message-type')) {
    case 'event':
      return { event: headers.get(':event-type') ?? 'message', data: payload };
    case 'exception':
      return { event: 'error', data: withType(headers.get(':exception-type') ?? '', payload) };
    case 'error': {
      const error = { type: headers.get(':error-code') ?? '', message: headers.get(':error-message') ?? '' };
      return { event: 'error', data: JSON.stringify(error) };
    }
    default:
      throw invalid('has no known type');
  }
}

/** Adds the name of an exception to its JSON object. An exception can have no payload. */
function withType(type: string, payload: string): string {
  const members = /^\s*\{\s*([^\s}][\s\S]*)$/.exec(payload)?.[1] ?? '}';
  return `{"type":${JSON.stringify(type)}${members === '}' ? '' : ','}${members}`;
}

function headersOf(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  try {
    while (at < bytes.length) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString('utf8', at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      at = nameEnd + 1;
      const isSized = type === TEXT || type === BYTES;
      const size = isSized ? bytes.readUInt16BE(at) : SIZES[type];
      if (size === undefined) throw invalid('has a header of an unknown type');
      if (isSized) at += 2;
      if (at + size > bytes.length) throw invalid('has headers that end too late');
      if (type === TEXT) headers.set(name, bytes.toString('utf8', at, at + size));
      at += size;
    }
  } catch (error) {
    throw error instanceof RangeError ? invalid('has headers that end too early') : error;
  }
  return headers;
}

function invalid(problem: string): Error {
  return providerFailure('upstream_error', `A message of the event stream ${problem}.`);
}
