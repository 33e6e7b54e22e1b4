import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import { AssetSet } from './asset-set.js';

const OWN_FILES = new URL('../static/', import.meta.url);
const { resolve } = createRequire(import.meta.url);
/** The built typed client, which the package also exports. The scripts of the pages import it as `client.js`. */
const CLIENT = resolve('chat-streaming-service/client');
const CLIENT_PARTS = join(dirname(CLIENT), 'client');

/**
 * All files that pages use, by path: the files in the folder `static`, the Pico stylesheet that they extend, the Markdown parser
 * and the client.
 */
export const ASSETS = new AssetSet([
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
