import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, sep } from 'node:path';
import { readAsset, type Asset } from './asset.js';

const OWN_FILES = new URL('../static/', import.meta.url);
const PICO = createRequire(import.meta.url).resolve('@picocss/pico');

/** By path, all files that pages use: those of the folder `static`, and the stylesheet that they build on. */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ['pico.css', readAsset(PICO)],
  ...readdirSync(OWN_FILES, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) !== '')
    .map((name) => name.replaceAll(sep, '/'))
    .sort()
    .map((name): [string, Asset] => [name, readAsset(new URL(name, OWN_FILES))]),
]);

/** Of all files together, so that a script can import its neighbours by name. */
export const ASSETS_VERSION = [...ASSETS]
  .reduce((hash, [name, { bytes }]) => hash.update(`${name}\0`).update(bytes), createHash('sha256'))
  .digest('base64url')
  .slice(0, 12);

/** Where the file is served. It may be kept for ever: when it changes, so does its address. */
export function assetPath(name: string): string {
  if (!ASSETS.has(name)) throw new Error(`There is no file "${name}" in src/dashboard/static.`);
  return `/assets/${ASSETS_VERSION}/${name}`;
}
