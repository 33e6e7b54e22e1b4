import type { ComponentChildren } from 'preact';
import type { Section } from './layout/navigation.js';

/**
 * The parts of a page that differ between pages. The layout adds the common parts.
 *
 * @experimental
 * @since 1.0
 */
export interface Page {
  /** The title in the browser tab. The layout appends the name of the service. */
  readonly title: string;
  /** The content of `<main>`: one `<h1>` and the content below it. */
  readonly content: ComponentChildren;
  readonly section?: Section;
  /** An ES module in the folder `static`, such as `playground/playground.js`, or an asset of a plugin: `<plugin>/<file>`. */
  readonly script?: string;
  /** A stylesheet of the same kind, in addition to the stylesheet of all pages. */
  readonly style?: string;
  /** The address that the browser opens at once, without a click. It may be on another host. */
  readonly leadsTo?: string;
  /** `narrow` for a page with one short form, `wide` for a page that needs the full width. The default is in between. */
  readonly width?: 'narrow' | 'wide';
}
