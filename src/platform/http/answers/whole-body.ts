import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { Response } from 'express';

/** A shorter text fits into one packet anyway. */
const MIN_LENGTH = 1_000;
/** A longer text is compressed in a thread of Node, because streams would wait for it. */
const MAX_LENGTH_AT_ONCE = 128 * 1024;
/** The script of the API reference, 1.6 MB, takes two seconds of one thread, once for each process, and 349 KB on the wire. */
const BROTLI_QUALITY = { atOnce: 9, inThread: 11 };
const GZIP_LEVEL = { one: 4, many: 9 };

type Encoding = 'br' | 'gzip';

/**
 * The body of an answer that is sent whole and may be compressed: a page, a file of a page, a document. The answers of the API are not
 * compressed, because streams must arrive as they are written, and the others are small. A proxy may compress them.
 */
export class WholeBody {
  private readonly compressed = new Map<Encoding, Buffer | Promise<Buffer>>();

  /** @param requests how many requests get the bytes. Those for one request are compressed fast, the others as small as they get. */
  constructor(
    readonly bytes: Buffer,
    private readonly requests: 'one' | 'many' = 'many',
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
    const encoding = this.encodingFor(response);
    if (encoding === undefined) {
      write(this.bytes);
      return;
    }
    const body = this.compressedAs(encoding);
    const header = { 'Content-Encoding': encoding };
    if (body instanceof Promise)
      void body.then((bytes) => {
        write(bytes, header);
      });
    else write(body, header);
  }

  /** Clients name their encodings in any order, and brotli is the smaller one. */
  private encodingFor({ req }: Response): Encoding | undefined {
    if (this.bytes.length < MIN_LENGTH) return undefined;
    const offered: readonly Encoding[] = this.requests === 'one' ? ['gzip'] : ['br', 'gzip'];
    return offered.find((encoding) => req.acceptsEncodings(encoding) === encoding);
  }

  /** Requests that come while a thread compresses the body wait for the same bytes. */
  private compressedAs(encoding: Encoding): Buffer | Promise<Buffer> {
    const known = this.compressed.get(encoding);
    if (known !== undefined) return known;
    const body =
      this.bytes.length <= MAX_LENGTH_AT_ONCE ? this.compressAtOnce(encoding) : this.compressInThread(encoding);
    this.compressed.set(encoding, body);
    return body;
  }

  private compressAtOnce(encoding: Encoding): Buffer {
    if (encoding === 'gzip') return gzipSync(this.bytes, { level: GZIP_LEVEL[this.requests] });
    return brotliCompressSync(this.bytes, this.brotliOptions(BROTLI_QUALITY.atOnce));
  }

  private async compressInThread(encoding: Encoding): Promise<Buffer> {
    const body = await new Promise<Buffer>((resolve) => {
      const use = (error: Error | null, compressed: Buffer): void => {
        resolve(error === null ? compressed : this.compressAtOnce(encoding));
      };
      if (encoding === 'gzip') gzip(this.bytes, { level: GZIP_LEVEL[this.requests] }, use);
      else brotliCompress(this.bytes, this.brotliOptions(BROTLI_QUALITY.inThread), use);
    });
    this.compressed.set(encoding, body);
    return body;
  }

  private brotliOptions(quality: number) {
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
    return { params: { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_SIZE_HINT]: this.bytes.length } };
  }
}
