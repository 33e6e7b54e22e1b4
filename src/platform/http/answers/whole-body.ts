import type { OutgoingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, gzipSync, type BrotliOptions, type ZlibOptions } from 'node:zlib';
import type { Response } from 'express';

/** A shorter text fits into one packet anyway. */
const MIN_LENGTH = 1_000;
/** The script of the API reference, 1.6 MB, takes two seconds of one thread, once for each process, and 349 KB on the wire. */
const BROTLI_QUALITY = 11;
const GZIP_LEVEL = 9;
const FAST_GZIP_LEVEL = 4;

const gzipInThread = promisify<Buffer, ZlibOptions, Buffer>(gzip);
const brotliInThread = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);

type Encoding = 'br' | 'gzip';

/**
 * The body of an answer that is sent whole and may be compressed: a page, a file of a page, a document. The answers of the API are not
 * compressed, because streams must arrive as they are written, and the others are small. A proxy may compress them.
 */
export class WholeBody {
  private readonly compressed = new Map<Encoding, Promise<Buffer>>();

  /** @param requests how many requests get the bytes. Those for one request are compressed fast, the others as small as they get. */
  constructor(
    readonly bytes: Buffer,
    private readonly requests: 'one' | 'many' = 'many',
  ) {}

  /** Sends the body, compressed if the client accepts that. Only the first such answer of many compresses it. */
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
    const encoding = this.encodingFor(response);
    if (encoding === undefined) write(this.bytes);
    // At once: Nest would answer in place of a page that its route has not sent when it is over.
    else if (this.requests === 'one')
      write(gzipSync(this.bytes, { level: FAST_GZIP_LEVEL }), { 'Content-Encoding': encoding });
    else
      this.compressedAs(encoding).then(
        (body) => {
          write(body, { 'Content-Encoding': encoding });
        },
        () => {
          write(this.bytes);
        },
      );
  }

  /** Clients name their encodings in any order, and brotli is the smaller one. */
  private encodingFor({ req }: Response): Encoding | undefined {
    if (this.bytes.length < MIN_LENGTH) return undefined;
    const offered: readonly Encoding[] = this.requests === 'one' ? ['gzip'] : ['br', 'gzip'];
    return offered.find((encoding) => req.acceptsEncodings(encoding) === encoding);
  }

  /** A thread of Node compresses the body, because streams would wait for it. Requests that come meanwhile wait for the same bytes. */
  private compressedAs(encoding: Encoding): Promise<Buffer> {
    const known = this.compressed.get(encoding);
    if (known !== undefined) return known;
    const body =
      encoding === 'gzip'
        ? gzipInThread(this.bytes, { level: GZIP_LEVEL })
        : brotliInThread(this.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
    this.compressed.set(encoding, body);
    return body;
  }
}
