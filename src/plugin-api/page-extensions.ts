import { ExtensionPoint } from '../platform/common/extensions/extensions.js';

export const NAVIGATION_AUDIENCES = ['everyone', 'operators', 'visitors'] as const;
type NavigationAudience = (typeof NAVIGATION_AUDIENCES)[number];

/**
 * An entry of a plugin in the navigation.
 *
 * @since 1.0
 */
export interface NavigationEntry {
  /** The text of the link. */
  readonly label: string;
  /** The path of the page, such as `/prompts`. */
  readonly path: string;
  /**
   * Who sees the entry: everyone who is signed in (default), or operators only, whose page needs `@OperatorOnly()`. Visitors see it as a
   * button on the page Sign in: another way to sign in.
   */
  readonly audience?: NavigationAudience;
}

/** The entries of plugins, after those of the service. */
export const NAVIGATION_ENTRIES = new ExtensionPoint<NavigationEntry>('navigation');

/** A file of a plugin for its pages. */
interface PluginAsset {
  /** `<plugin>/<file name>`. */
  readonly name: string;
  readonly file: URL;
}

/** The files of plugins. */
export const PLUGIN_ASSETS = new ExtensionPoint<PluginAsset>('assets');
