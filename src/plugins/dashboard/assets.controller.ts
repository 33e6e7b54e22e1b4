import { Injectable, Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { createHash } from 'node:crypto';
import { readFileSync, existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, dirname, join, sep } from 'node:path';
import { Extensions, ServiceError } from '../../plugin-api/core/common.js';
import { WholeBody, ApiExcludeController, OutsideApi, Public } from '../../plugin-api/core/http.js';
import { PLUGIN_ASSETS } from '../../plugin-api/page-extensions.js';

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
class AssetSet {
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

const OWN_FILES = new URL('./static/', import.meta.url);
const { resolve } = createRequire(import.meta.url);
/** The built typed client, which the package also exports. The scripts of the pages import it as `client.js`. */
const CLIENT = resolve('chat-streaming-service/client');
const CLIENT_PARTS = join(dirname(CLIENT), 'client');

/**
 * All files that pages use, by path: the files in the folder `static`, the Pico stylesheet that they extend, the Markdown parser
 * and the client.
 */
const ASSETS = new AssetSet([
  ...pico(),
  ['marked.js', resolve('marked')],
  ['client.js', CLIENT],
  ...readdirSync(CLIENT_PARTS)
    .filter((name) => extname(name) === '.js')
    .map((name) => [`client/${name}`, join(CLIENT_PARTS, name)] as const),
  ...readdirSync(OWN_FILES, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) !== '')
    .map((name) => name.replaceAll(sep, '/'))
    .sort()
    .map((name) => [name, new URL(name, OWN_FILES)] as const),
]);

/** Pico is a file of the folder `static` after a whole build. `npm run start:dev` reads it from its package. */
function pico(): (readonly [string, string])[] {
  return existsSync(new URL('pico.css', OWN_FILES)) ? [] : [['pico.css', resolve('@picocss/pico')]];
}

/**
 * The path at which a file is served.
 *
 * @throws {Error} if there is no such file.
 */
export function assetPath(name: string): string {
  const path = ASSETS.pathOf(name);
  if (path === undefined) throw new Error(`There is no file "${name}" in src/dashboard/static.`);
  return path;
}

/** Serves the files that pages use: stylesheets, scripts and icons. */
@OutsideApi('assets')
@ApiExcludeController()
export class AssetsController {
  constructor(private readonly ofPlugins: PluginAssets) {}

  @Get(':version/*path')
  @Public()
  show(@Param('version') version: string, @Param('path') path: readonly string[], @Res() response: Response): void {
    const name = path.join('/');
    const found = ASSETS.find(version, name) ?? this.ofPlugins.find(version, name);
    if (found === undefined) throw new ServiceError('not_found', 'This file does not exist.');
    const { asset, isCurrent } = found;
    asset.send(response, 200, {
      // During a rollout, pages of the other release request files of that release. This replica then answers with
      // its own file, and browsers must not cache the answer.
      'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-store',
      'Content-Type': asset.type,
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
  }
}
