import { ServiceError } from '../../platform/common/service-error.js';
import type { Decoder, Framing, ProviderEvent } from '../contract/framing.js';

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
