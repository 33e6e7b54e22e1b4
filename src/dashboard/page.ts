import type { ComponentChildren } from 'preact';
import type { Place } from './layout/navigation.js';

/** What a page is beside the layout that all have. */
export interface Page {
  /** Of the browser's tab; the name of the service follows. */
  readonly title: string;
  /** What `<main>` holds: one `<h1>` and what belongs to it. */
  readonly content: ComponentChildren;
  readonly place?: Place;
  /** An ES module in the folder `static`, such as `playground/playground.js`. */
  readonly script?: string;
  /** A stylesheet in the same folder, beside the one that all pages have. */
  readonly style?: string;
  /** For pages that are one short form, and for those that need all the room. By default neither. */
  readonly width?: 'narrow' | 'wide';
}
