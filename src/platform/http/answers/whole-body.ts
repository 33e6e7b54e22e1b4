import type { OutgoingHttpHeaders } from 'node:http';
import { gzip, gzipSync } from 'node:zlib';
import type { Response } from 'express';

/** A shorter text fits into one packet anyway. */
const MIN_LENGTH = 1_000;
/** A longer text is compressed in a thread of Node, because streams would wait for it: 1.5 MB take 100 ms. */
const MAX_LENGTH_AT_ONCE = 128 * 1024;

/**
 * The body of an answer that is sent whole and may be compressed: a page, a file of a page, a document. The answers of the API are not
 * compressed, because streams must arrive as they are written, and the others are small. A proxy may compress them.
 */
export class WholeBody {
  private compressed: Buffer | undefined;

  /** @param level from 1, fast, to 9, small. The default is for bytes that many requests get. */
  constructor(
    readonly bytes: Buffer,
    private readonly level = 9,
  ) {}

  /** Sends the body, compressed if the client accepts that. Only the first such answer compresses it. */
  send(response: Response, status: number, headers: OutgoingHttpHeaders): void {
    const write = (body: Buffer, encoding: OutgoingHttpHeaders = {}): void => {
      response.writeHead(status, {
        ...headers,
        ...encoding,
        'Content-Length': body.length,
        Vary: 'Accept-Encoding',
      });
      response.end(body);
    };
    if (this.bytes.length < MIN_LENGTH || response.req.acceptsEncodings('gzip') !== 'gzip') {
      write(this.bytes);
      return;
    }
    this.compress((compressed) => {
      write(compressed, { 'Content-Encoding': 'gzip' });
    });
  }

  private compress(use: (compressed: Buffer) => void): void {
    const { bytes, level } = this;
    const keep = (compressed: Buffer): void => {
      this.compressed = compressed;
      use(compressed);
    };
    if (this.compressed !== undefined) use(this.compressed);
    else if (bytes.length <= MAX_LENGTH_AT_ONCE) keep(gzipSync(bytes, { level }));
    else {
      gzip(bytes, { level }, (error, compressed) => {
        keep(error === null ? compressed : gzipSync(bytes, { level }));
      });
    }
  }
}
