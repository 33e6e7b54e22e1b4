import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { Extensions } from '../../../plugin-api/core/common.js';
import { PLUGIN_ASSETS } from '../../../plugin-api/page-extensions.js';
import { WholeBody } from '../../../plugin-api/core/http.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** A file that pages use, with its media type. */
class Asset extends WholeBody {
  readonly type: string;

  constructor(file: string | URL) {
    const name = file instanceof URL ? file.pathname : file;
    const type = TYPES[extname(name)];
    if (type === undefined) throw new Error(`The media type of ${name} is unknown.`);
    super(readFileSync(file));
    this.type = type;
  }
}

interface FoundAsset {
  readonly asset: Asset;
  /** Whether the version in the requested path is that of the file. */
  readonly isCurrent: boolean;
}

/** Files of pages with one version for all of them. So a script can import other files by relative path. */
export class AssetSet {
  private readonly assets: ReadonlyMap<string, Asset>;
  private readonly version: string;

  constructor(files: Iterable<readonly [name: string, file: string | URL]>) {
    this.assets = new Map([...files].map(([name, file]) => [name, new Asset(file)]));
    const hash = createHash('sha256');
    for (const [name, { bytes }] of this.assets) hash.update(`${name}\0`).update(bytes);
    this.version = hash.digest('base64url').slice(0, 12);
  }

  /** Returns the path of a file. Browsers may cache the file forever, because its path changes with the files. */
  pathOf(name: string): string | undefined {
    return this.assets.has(name) ? `/assets/${this.version}/${name}` : undefined;
  }

  /** @param version the version in the requested path. */
  find(version: string, name: string): FoundAsset | undefined {
    const asset = this.assets.get(name);
    return asset && { asset, isCurrent: version === this.version };
  }
}

/** Reads the files of plugins at the start, and tells their paths. */
@Injectable()
export class PluginAssets extends AssetSet {
  constructor(extensions: Extensions) {
    super(extensions.values(PLUGIN_ASSETS).map(({ name, file }) => [name, file] as const));
  }
}
