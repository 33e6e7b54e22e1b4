import { Injectable } from '@nestjs/common';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import { Extensions } from '../../common/extensions/extensions.js';
import { AssetSet } from './asset-set.js';

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
export class PluginAssets extends AssetSet {
  constructor(extensions: Extensions) {
    super(extensions.values(PLUGIN_ASSETS).map(({ name, file }) => [name, file] as const));
  }
}
