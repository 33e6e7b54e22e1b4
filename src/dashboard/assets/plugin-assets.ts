import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import { Extensions } from '../../common/extensions/extensions.js';
import { readAsset, type Asset } from './asset.js';

/** A file of a plugin for its pages. */
export interface PluginAsset {
  /** `<plugin>/<file name>`. */
  readonly name: string;
  readonly file: URL;
}

/** The files of plugins. */
export const PLUGIN_ASSETS = new ExtensionPoint<PluginAsset>('assets');

/** Reads the files of plugins at the start, and tells their paths. */
@Injectable()
export class PluginAssets {
  private readonly assets: ReadonlyMap<string, Asset>;
  private readonly version: string;

  constructor(extensions: Extensions) {
    this.assets = new Map(extensions.values(PLUGIN_ASSETS).map(({ name, file }) => [name, readAsset(file)]));
    const hash = createHash('sha256');
    for (const { bytes } of this.assets.values()) hash.update(bytes);
    this.version = hash.digest('base64url').slice(0, 12);
  }

  /** Returns the path of a file. It changes with the files of all plugins, so browsers may cache the file. */
  pathOf(name: string): string | undefined {
    return this.assets.has(name) ? `/assets/${this.version}/${name}` : undefined;
  }

  /** @param version the version in the requested path. */
  find(version: string, name: string): { readonly asset: Asset; readonly isCurrent: boolean } | undefined {
    const asset = this.assets.get(name);
    return asset && { asset, isCurrent: version === this.version };
  }
}
