import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import { readAsset, type Asset } from './asset.js';

const OWN_FILES = new URL('../static/', import.meta.url);
const { resolve } = createRequire(import.meta.url);
const MARKED = resolve('marked');
/** The built typed client, which the package also exports. The scripts of the pages import it as `client.js`. */
const CLIENT = resolve('chat-streaming-service/client');
const CLIENT_PARTS = join(dirname(CLIENT), 'client');

/**
 * All files that pages use, by path: the files in the folder `static`, the Pico stylesheet that they extend, the Markdown parser
 * and the client.
 */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ...pico(),
  ['marked.js', readAsset(MARKED)],
  ['client.js', readAsset(CLIENT)],
  ...readdirSync(CLIENT_PARTS)
    .filter((name) => extname(name) === '.js')
    .map((name): [string, Asset] => [`client/${name}`, readAsset(join(CLIENT_PARTS, name))]),
  ...readdirSync(OWN_FILES, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) !== '')
    .map((name) => name.replaceAll(sep, '/'))
    .sort()
    .map((name): [string, Asset] => [name, readAsset(new URL(name, OWN_FILES))]),
]);

/** Pico is a file of the folder `static` after a whole build. `npm run start:dev` reads it from its package. */
function pico(): [string, Asset][] {
  return existsSync(new URL('pico.css', OWN_FILES)) ? [] : [['pico.css', readAsset(resolve('@picocss/pico'))]];
}

/** One version for all files together. All paths share this version, so a script can import other files by relative path. */
export const ASSETS_VERSION = [...ASSETS]
  .reduce((hash, [name, { bytes }]) => hash.update(`${name}\0`).update(bytes), createHash('sha256'))
  .digest('base64url')
  .slice(0, 12);

/**
 * The path at which a file is served. Browsers may cache the file forever, because its path changes with its content.
 *
 * @throws {Error} if there is no such file.
 */
export function assetPath(name: string): string {
  if (!ASSETS.has(name)) throw new Error(`There is no file "${name}" in src/dashboard/static.`);
  return `/assets/${ASSETS_VERSION}/${name}`;
}
