import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** A file that pages use, with its media type and its bytes. */
export class Asset {
  private compressed: Buffer | undefined;

  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {}

  /** The compressed bytes. The first request compresses them. */
  get gzipped(): Buffer {
    return (this.compressed ??= gzipSync(this.bytes, { level: 9 }));
  }
}

export function readAsset(file: string | URL): Asset {
  const name = file instanceof URL ? file.pathname : file;
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`The media type of ${name} is unknown.`);
  return new Asset(type, readFileSync(file));
}
